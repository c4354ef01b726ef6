// Package calls is the kind of scenario that runs tools directly, without a
// model.
package calls

import (
	"encoding/json"
	"errors"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// Key is the name of the kind in scenario.yaml.
const Key = "calls"

// New returns an empty script.
func New() replay.Script { return &script{} }

// script is what scenario.yaml says in this kind alone.
type script struct {
	Calls []call `yaml:"calls"`
}

var _ replay.Kind = New

// Key implements scenario.Part.
func (*script) Key() string { return Key }

// Check implements scenario.Part.
func (s *script) Check(b *scenario.Base) error {
	for i := range s.Calls {
		c := &s.Calls[i]
		err := b.Settle(c.Change)
		if err == nil {
			c.Input, err = b.Expand(c.Input)
		}
		if err != nil {
			return c.Pos.At(err)
		}
	}
	switch {
	case len(s.Calls) == 0:
		return errors.New("calls lists no call, write one")
	case b.Budgets.RetrievedContextTokens != nil:
		return errors.New("calls run tools without a model, so budgets.retrievedContextTokens means nothing here: use turns")
	}
	return nil
}

type call struct {
	Pos          strictyaml.Pos
	Tool         string          `yaml:"tool"`
	Input        json.RawMessage `yaml:"input"`
	Pages        pages           `yaml:"pages"`
	Conversation string          `yaml:"conversation"`
	Cancel       bool            `yaml:"cancel"`
	Change       scenario.Change `yaml:"change"` // before the call
	Expect       expect          `yaml:"expect"`
}

type pages string

// Allowed implements strictyaml.Enum.
func (pages) Allowed() []string { return []string{"all"} }

// Validate implements strictyaml.Validator.
func (c *call) Validate() error {
	if c.Tool == "" {
		return errors.New("a call needs the name of a tool")
	}
	return nil
}
