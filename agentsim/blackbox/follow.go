package blackbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// held is one conversation as it is shown.
type held struct {
	name    string
	talk    *wire.Conversation
	names   *names
	prompts []prompt
	shown   []shownResult
	texts   []string // of the last request's messages, masked
}

// prompt is what a request costs, by part, after masking.
type prompt struct {
	system, tools int
	messages      []int
}

func (p *prompt) total() int {
	sum := p.system + p.tools
	for _, n := range p.messages {
		sum += n
	}
	return sum
}

// shownResult is a result and what the model was shown of it, after masking.
type shownResult struct {
	wire.Shown
	tool string
	line string // how a golden names it
}

// follow counts the prompts of a conversation and what became of results in them.
func (s *show) follow(h *held, traced []wire.Shown) {
	var counts []int
	for i := range h.talk.Exchanges {
		x := &h.talk.Exchanges[i]
		counts, h.texts = counts[:x.New:x.New], h.texts[:x.New:x.New]
		for j := x.New; j < len(x.Request.Messages); j++ {
			m := &x.Request.Messages[j]
			at := slices.IndexFunc(traced, func(t wire.Shown) bool { return t.Exchange == i && t.Message == j })
			var result *wire.Result
			if at >= 0 {
				result = traced[at].Result
			}
			text := m.Text
			if m.Role != wire.Assistant {
				text = s.mask.around(text, result)
			}
			n := s.counted(text)
			for _, c := range m.Calls {
				n += s.counted(c.Name + " " + string(c.Input))
			}
			counts, h.texts = append(counts, n), append(h.texts, text)
			if at < 0 {
				continue
			}
			one := shownResult{Shown: traced[at], tool: x.Request.OwnName(&traced[at].Call)}
			one.Tokens = n
			one.line = fmt.Sprintf("%s %s", one.tool, h.names.hide(string(one.Call.Input)))
			h.shown = append(h.shown, one)
		}
		p := prompt{messages: slices.Clone(counts)}
		p.system = s.counted(s.mask.hide(x.Request.System))
		p.tools = s.offered(x.Request).tokens
		h.prompts = append(h.prompts, p)
	}
}

// counted is what a text costs; the same text costs the same each time.
func (s *show) counted(text string) int {
	if text == "" {
		return 0
	}
	n, ok := s.counts[text]
	if !ok {
		n = s.results.count(text)
		s.counts[text] = n
	}
	return n
}

// offer is what a request says of tools, masked.
type offer struct {
	text   string
	tokens int
	line   string // how a golden sums it up
}

// offered reads the tools of a request. Requests to one server share the list of
// tools that they repeat, and it is read once.
func (s *show) offered(r *wire.Request) *offer {
	if len(r.Tools) == 0 {
		return &offer{line: "tools: none"}
	}
	if o := s.offers[&r.Tools[0]]; o != nil {
		return o
	}
	o := &offer{text: s.mask.hide(toolsText(r))}
	o.tokens = s.counted(o.text)
	o.line = fmt.Sprintf("tools: %d, %d tokens, %s, %s", len(r.Tools), o.tokens, digest(o.text), ours(r))
	s.offers[&r.Tools[0]] = o
	return o
}

// ours names our tools as the client has them.
func ours(r *wire.Request) string {
	var names []string
	for _, t := range r.Tools {
		call := wire.Call{Namespace: t.Namespace, Name: t.Name}
		if r.Owns(&call) {
			names = append(names, strings.TrimPrefix(t.Namespace+"."+t.Name, "."))
		}
	}
	if names == nil {
		return "none of ours"
	}
	return "ours: " + strings.Join(names, " ")
}

// toolsText is all that a request says of tools.
func toolsText(r *wire.Request) string {
	var b strings.Builder
	for _, t := range r.Tools {
		fmt.Fprintf(&b, "%s\n%s\n%s\n", strings.TrimPrefix(t.Namespace+"."+t.Name, "."), t.Description, t.Schema)
	}
	return b.String()
}
