package blackbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// show writes what happened into the transcript.
type show struct {
	t       *golden.Transcript
	script  *script
	mask    *mask
	results *results
	helds   []*held
	counts  map[string]int // of texts, which requests repeat
	offers  map[*wire.Tool]*offer
}

func newShow(w *replay.World, s *script, m *mask, r *results) *show {
	return &show{t: w.Transcript, script: s, mask: m, results: r, counts: map[string]int{}, offers: map[*wire.Tool]*offer{}}
}

// all adds everything.
func (s *show) all(report wire.Report, end *ending) {
	s.note("Clients", report.Clients)
	s.note("Clients over MCP", s.results.clients())
	all := s.results.all()
	used := s.follows(report, all)
	s.summary(all, used)
	for _, h := range s.helds {
		s.conversation(h)
	}
	s.agent(end)
}

// note notes which programs asked, in the words of which version. Another version
// is no difference: what it shows may be one.
func (s *show) note(what string, names []string) {
	for i, name := range names {
		names[i] = golden.Inline(name)
	}
	if len(names) > 0 {
		s.t.Note(what + ": " + strings.Join(names, ", "))
	}
}

// follows follows every conversation, and returns which results were shown.
func (s *show) follows(report wire.Report, all []wire.Result) (used map[int]bool) {
	used = map[int]bool{}
	for i := range report.Conversations {
		talk := &report.Conversations[i]
		h := &held{name: fmt.Sprint(talk.Script + 1), talk: talk, names: talk.Names.(*names)} // they were made here
		s.follow(h, talk.Trace(all, used))
		s.helds = append(s.helds, h)
	}
	s.orderSides()
	return used
}

// orderSides gives conversations of one side script, which may be held at once,
// the order of what they ask.
func (s *show) orderSides() {
	slices.SortStableFunc(s.helds, func(a, b *held) int {
		if a.talk.Script != b.talk.Script {
			return a.talk.Script - b.talk.Script
		}
		return strings.Compare(strings.Join(a.texts, "\n"), strings.Join(b.texts, "\n"))
	})
	times := map[string]int{}
	for _, h := range s.helds {
		script := h.name
		if times[script]++; times[script] > 1 {
			h.name = fmt.Sprintf("%s (%d)", script, times[script])
		}
	}
}

// summary adds what was returned and what was shown of it: the first lines of a
// golden.
func (s *show) summary(all []wire.Result, used map[int]bool) {
	returned, shown := 0, 0
	var lines []string
	for _, h := range s.helds {
		for _, r := range h.shown {
			line := fmt.Sprintf("%s.%d %s: ", h.name, r.Exchange+1, r.line)
			shown += r.Tokens
			if r.Result == nil {
				lines = append(lines, line+fmt.Sprintf("the tool was not called, shown %d", r.Tokens))
				continue
			}
			returned += r.Result.Tokens
			line += fmt.Sprintf("returned %d, shown %d, %s", r.Result.Tokens, r.Tokens, r.Fate)
			if r.Result.Code != "" {
				line += ", error " + r.Result.Code
			}
			lines = append(lines, line)
		}
	}
	var unseen []string
	for i, r := range all {
		if !used[i] {
			returned += r.Tokens
			unseen = append(unseen, fmt.Sprintf("%s %s: returned %d, never shown", r.Tool, s.hide(string(r.Input)), r.Tokens))
		}
	}
	slices.Sort(unseen) // calls of one reply end in any order
	head := fmt.Sprintf("returned %d, shown %d", returned, shown)
	s.t.Add("results", strings.Join(append(append([]string{head}, lines...), unseen...), "\n")+"\n")
}

// hide masks a text that belongs to no conversation: with the names of the first
// that knows a value.
func (s *show) hide(text string) string {
	text = s.mask.hide(text)
	for _, h := range s.helds {
		text = h.names.hide(text)
	}
	return text
}

// page is a text that stands under a name of its own.
type page struct{ name, text string }

// conversation adds one, request by request.
func (s *show) conversation(h *held) {
	head := []string{"begins: " + begins(h.talk)}
	var system, tools string // as they were shown last
	for i := range h.talk.Exchanges {
		x := &h.talk.Exchanges[i]
		name := fmt.Sprintf("%s.%d", h.name, i+1)
		var lines []string
		var pages []page
		if now := s.systemLine(x, &h.prompts[i]); now != system {
			lines, system = append(lines, now), now
			if s.script.shows(partSystem) && x.Request.System != "" {
				pages = append(pages, page{name + " system", s.mask.hide(x.Request.System)})
			}
		}
		if now := s.offered(x.Request); now.line != tools {
			lines, tools = append(lines, now.line), now.line
			if s.script.shows(partTools) && now.text != "" {
				pages = append(pages, page{name + " tools", now.text})
			}
		}
		if i == 0 {
			head = append(head, "asks: "+asks(x.Request))
			s.t.Add("conversation "+h.name, strings.Join(append(head, lines...), "\n")+"\n")
			lines = nil
		}
		s.exchange(h, i, name, lines, pages)
	}
}

func begins(c *wire.Conversation) string {
	text := "always"
	if c.When != "" {
		text = "when " + golden.Inline(c.When)
	}
	if c.Side {
		text += ", beside the work"
	}
	return text
}

func asks(r *wire.Request) string {
	how := "whole"
	if r.Stream {
		how = "streaming"
	}
	return fmt.Sprintf("%s, %s, model %s", r.Protocol, how, golden.Inline(r.Model))
}

// digest stands for a text that is not shown.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256 " + hex.EncodeToString(sum[:6])
}

func (s *show) systemLine(x *wire.Exchange, p *prompt) string {
	if x.Request.System == "" {
		return "system: none"
	}
	return fmt.Sprintf("system: %d tokens, %s", p.system, digest(s.mask.hide(x.Request.System)))
}

// exchange adds a request with its new messages, and the replies to it.
func (s *show) exchange(h *held, i int, name string, lines []string, pages []page) {
	x := &h.talk.Exchanges[i]
	p := &h.prompts[i]
	lines = append([]string{fmt.Sprintf("prompt: %d tokens: system %d, tools %d, messages %d", p.total(), p.system, p.tools, p.total()-p.system-p.tools)}, lines...)
	for j := x.New; j < len(x.Request.Messages); j++ {
		m := &x.Request.Messages[j]
		line := fmt.Sprintf("message %d: %s, %d tokens", j+1, m.Role, p.messages[j])
		at := slices.IndexFunc(h.shown, func(r shownResult) bool { return r.Exchange == i && r.Message == j })
		if at >= 0 {
			line += s.fate(&h.shown[at])
		}
		if m.Failed {
			line += ", marked as an error"
		}
		if m.Role == wire.Assistant && i > 0 && repeats(&h.talk.Exchanges[i-1], x.Request, m) {
			lines = append(lines, line+", as the model said")
			continue
		}
		for _, c := range m.Calls {
			line += fmt.Sprintf(", call %s %s", x.Request.OwnName(&c), h.names.hide(string(c.Input)))
		}
		text := h.names.hide(s.messageText(h, i, j))
		switch {
		case text == "":
		case golden.OneLine(text):
			line += "\n" + text
		default:
			pages = append(pages, page{fmt.Sprintf("%s message %d", name, j+1), text})
		}
		lines = append(lines, line)
	}
	for n, r := range x.Replies {
		what := "reply"
		if n < len(x.Replies)-1 {
			what = "reply, after which it asks again"
		}
		lines = append(lines, what+": "+s.reply(h, &r))
	}
	s.t.Add(name, strings.Join(lines, "\n")+"\n")
	for _, p := range pages {
		s.t.Add(p.name, p.text)
	}
}

// messageText is a message as it was masked when it was new.
func (s *show) messageText(h *held, exchange, message int) string {
	m := &h.talk.Exchanges[exchange].Request.Messages[message]
	if m.Role == wire.Assistant {
		return m.Text
	}
	var result *wire.Result
	for _, r := range h.shown {
		if r.Exchange == exchange && r.Message == message {
			result = r.Result
		}
	}
	return s.mask.around(m.Text, result)
}

func (s *show) fate(r *shownResult) string {
	switch {
	case s.results.tools == nil: // of the agent's own tools nothing is known
		return fmt.Sprintf(", result of %s", r.tool)
	case r.Result == nil:
		return fmt.Sprintf(", for %s, which was not called", r.tool)
	}
	return fmt.Sprintf(", result of %s, returned %d, %s", r.tool, r.Result.Tokens, r.Fate)
}

// repeats reports whether a message is what the model answered to the request
// before.
func repeats(before *wire.Exchange, r *wire.Request, m *wire.Message) bool {
	if len(before.Replies) == 0 {
		return false
	}
	said := before.Replies[len(before.Replies)-1]
	return said.Text == m.Text && slices.EqualFunc(said.Calls, m.Calls, func(a, b wire.Call) bool {
		return a.Name == r.OwnName(&b) && wire.SameJSON(a.Input, b.Input)
	})
}

// reply shows a reply on one line.
func (s *show) reply(h *held, r *wire.Reply) string {
	if f := r.Error; f != nil {
		line := fmt.Sprintf("error %d", f.Status)
		if f.Message != "" {
			line += " " + golden.Inline(f.Message)
		}
		if f.RetryAfter != nil {
			line += fmt.Sprintf(", retry after %s", *f.RetryAfter)
		}
		return line
	}
	var parts []string
	if r.Text != "" || len(r.Calls) == 0 {
		parts = append(parts, "text "+golden.Inline(r.Text))
	}
	for _, c := range r.Calls {
		input := "{}"
		if len(c.Input) > 0 {
			input = string(c.Input)
		}
		parts = append(parts, fmt.Sprintf("call %s %s", c.Name, h.names.hide(input)))
	}
	if r.Truncated {
		parts = append(parts, "truncated")
	}
	if r.Cut {
		parts = append(parts, "cut")
	}
	return strings.Join(parts, ", ")
}

// agent adds how the agent ended, and what it printed.
func (s *show) agent(end *ending) {
	lines := []string{fmt.Sprintf("status: %d", end.status)}
	out := s.hide(end.stdout)
	text := strings.TrimSuffix(out, "\n")
	apart := false // as an entry of its own
	switch {
	case out == "":
		lines = append(lines, "stdout: nothing")
	case golden.OneLine(text) && out == text+"\n":
		lines = append(lines, "stdout: "+text)
	default:
		apart = true
	}
	if end.problem != nil {
		lines = append(lines, "problem: "+s.hide(end.problem.Error()))
	}
	s.t.Add("agent", strings.Join(lines, "\n")+"\n")
	if apart {
		s.t.Add("agent stdout", out)
	}
}
