package blackbox

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/library"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Model is the scripted model of one scenario by itself, for an agent that is
// started by hand and has tools of its own. It is safe for concurrent use.
type Model struct {
	name   string
	script *script
	server *wire.Server
	count  agenttool.TokenCounter
}

// ModelOptions adjust a model; nil or the zero value is the default.
type ModelOptions struct {
	// Tokenizer and Tokenizers are those of agentsim.ReplayOptions.
	Tokenizer  string
	Tokenizers agentsim.Tokenizers
}

// LoadModel reads a scenario that has wire.
func LoadModel(path string, opts *ModelOptions) (*Model, error) {
	if opts == nil {
		opts = &ModelOptions{}
	}
	data, err := regular.Read(path)
	if err != nil {
		return nil, library.Unread(path, err)
	}
	s := &script{}
	sc, _, err := scenario.Read(path, path, data, s)
	if err != nil {
		return nil, err
	}
	_, count, err := replay.Options{Tokenizer: opts.Tokenizer, Tokenizers: opts.Tokenizers}.Counter(sc)
	if err != nil {
		return nil, err
	}
	if count == nil {
		count = agenttool.EstimateTokens
	}
	tools, err := agenttool.New(agenttool.Options{Writable: true})
	if err != nil {
		return nil, err
	}
	return &Model{sc.Name, s, wire.NewServer(s.scripts(), &wire.Options{
		Tools:       ownTools(tools.Tools()),
		CountTokens: count,
		NewNames:    func() wire.Names { return newNames(nil) },
	}), count}, nil
}

// Handler is the model on the four protocols of package wire.
func (m *Model) Handler() http.Handler { return m.server }

// Report tells what the model was shown and answered up to now, in the form of a
// golden, and what did not go as the scenario says, one sentence each. No results
// of tools are followed, as they are not this package's.
func (m *Model) Report() (shown []byte, problems []string) {
	report := m.server.Report()
	t := golden.New(m.name)
	s := &show{
		t: t, script: m.script, mask: newMask(nil, m.script.Mask), results: newResults(nil, 0, m.count),
		counts: map[string]int{}, offers: map[*wire.Tool]*offer{},
	}
	s.follows(report, nil)
	for _, h := range s.helds {
		s.conversation(h)
	}
	_, entries, _ := bytes.Cut(t.Golden(), []byte("\n\n"))
	return entries, wire.Texts(slices.Concat(report.Problems, report.LeftOver))
}
