package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Names gives values that a script cannot know, such as the revision of a file,
// the labels under which it speaks of them. Each conversation has its own, so
// that two at once do not number each other's. It is called for one request at a
// time.
type Names interface {
	// See is given each message of the conversation once, in order.
	See(m *Message)
	// Resolve puts values in place of the labels in a call's input. An error means
	// that a label has not been seen; it fails the request.
	Resolve(input json.RawMessage) (json.RawMessage, error)
}

// state is where a conversation stands.
type state string

// What comes next depends on the state and on the request:
//
//	state      the same request        one that extends it
//	answering  waits for the answer    waits for the answer
//	answered   begins a conversation   gets the next reply
//	failed     is a retry: next reply  gets the next reply
//
// An answer that was an error, was cut or did not reach the client has failed.
// The same request while another is answered begins a conversation too, if there
// is a script for it.
const (
	answering state = "answering"
	answered  state = "answered"
	failed    state = "failed"
)

// conversation is one that has begun.
type conversation struct {
	script int
	run    int // of a side script: which time, from 1
	next   int // how many replies were given
	names  Names

	state   state
	idle    chan struct{} // closed when it is not answering any more
	keys    []messageKey  // of the last request's messages
	setting setting       // of the last request
	reply   messageKey    // of the last reply, as the client will repeat it

	exchanges []Exchange
}

// same reports whether the request is the last one once more.
func (c *conversation) same(keys []messageKey, setting setting) bool {
	return c.setting == setting && slices.Equal(c.keys, keys)
}

// extends reports whether a request goes on with the conversation.
func (c *conversation) extends(keys []messageKey) bool {
	return len(keys) > len(c.keys) && slices.Equal(keys[:len(c.keys)], c.keys)
}

// fit is how well a request that extends the conversation goes with it.
func (c *conversation) fit(keys []messageKey, setting setting) int {
	n := 4 * len(c.keys)
	if keys[len(c.keys)] == c.reply {
		n += 2
	}
	if c.setting == setting {
		n++
	}
	return n
}

// take adds an exchange for a request that is no retry.
func (c *conversation) take(req *Request, keys []messageKey, count func(string) int) {
	known := len(c.keys)
	if c.names != nil {
		for i := range req.Messages[known:] {
			c.names.See(&req.Messages[known+i])
		}
	}
	tokens := Tokens{System: countText(req.System, count), Tools: req.offer.tokens}
	if n := len(c.exchanges); n > 0 { // what was known says the same, so it costs the same
		tokens.Messages = slices.Clone(c.exchanges[n-1].Tokens.Messages[:known])
	}
	for i := range req.Messages[known:] {
		tokens.Messages = append(tokens.Messages, req.Messages[known+i].count(count))
	}
	c.exchanges = append(c.exchanges, Exchange{Request: req, New: known, Tokens: tokens})
	c.keys, c.setting = keys, req.setting()
}

// table is the conversations of a server. It is not safe for concurrent use.
type table struct {
	scripts []Script
	all     []*conversation
}

// find returns the conversation of a request, which may be answering another
// one, and whether the request is a retry; keys are those of the request. It begins one where it must. An error
// says why the request belongs nowhere.
func (t *table) find(req *Request, keys []messageKey, newNames func() Names) (c *conversation, retry bool, err error) {
	setting := req.setting()
	var wait *conversation
	for _, c := range t.all {
		if !c.same(keys, setting) {
			continue
		}
		switch c.state {
		case failed:
			return c, true, nil
		case answering:
			wait = c
		}
	}
	if wait == nil {
		if c := t.extended(keys, setting); c != nil {
			return c, false, nil
		}
	}
	if i := t.fitting(req); i >= 0 {
		c := &conversation{script: i, state: answered}
		if newNames != nil {
			c.names = newNames()
		}
		for _, other := range t.all {
			if other.script == i {
				c.run++
			}
		}
		t.all = append(t.all, c)
		return c, false, nil
	}
	if wait != nil {
		return wait, false, nil
	}
	return nil, false, t.unfit(req)
}

func (t *table) extended(keys []messageKey, setting setting) *conversation {
	var best *conversation
	for _, c := range t.all {
		if c.extends(keys) && (best == nil || c.fit(keys, setting) > best.fit(keys, setting)) {
			best = c
		}
	}
	return best
}

// fitting returns the script that a new conversation takes, -1 if there is none.
func (t *table) fitting(req *Request) int {
	for _, side := range []bool{true, false} {
		for i, s := range t.scripts {
			if s.Side == side && (side || !t.isUsed(i)) && says(req, s.When) {
				return i
			}
		}
	}
	return -1
}

func (t *table) isUsed(script int) bool {
	return slices.ContainsFunc(t.all, func(c *conversation) bool { return c.script == script })
}

// says reports whether a message of the person contains the text.
func says(req *Request, text string) bool {
	return text == "" || slices.ContainsFunc(req.Messages, func(m Message) bool { return m.Role == User && strings.Contains(m.Text, text) })
}

// unfit explains why no script fits.
func (t *table) unfit(req *Request) error {
	var have []string
	hint := ""
	for i, s := range t.scripts {
		what := s.name()
		switch {
		case s.Side:
			what += ", beside the work"
		case t.isUsed(i):
			what += ", taken by a conversation"
			if says(req, s.When) && len(req.Messages) > 1 {
				hint = "; if the agent shortened its history, give the conversation that begins so a script of its own"
			}
		}
		have = append(have, fmt.Sprintf("script %d (%s)", i+1, what))
	}
	return fmt.Errorf("no script fits the request whose last message is %s; there is %s%s", lastMessage(req), strings.Join(have, ", "), hint)
}

// lastMessage describes the last message of a request in some words.
func lastMessage(req *Request) string {
	if len(req.Messages) == 0 {
		return "none"
	}
	m := req.Messages[len(req.Messages)-1]
	return fmt.Sprintf("of the %s: %s", m.Role, brief(m.Text))
}

// brief is the start of a text, quoted.
func brief(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%+q and %d characters more", string(runes[:most]), len(runes)-most)
	}
	return fmt.Sprintf("%+q", text)
}

// leftOver says which replies were never asked for.
func (t *table) leftOver() []Problem {
	var problems []Problem
	for i, s := range t.scripts {
		if s.Side {
			continue
		}
		given := 0
		for _, c := range t.all {
			if c.script == i {
				given = c.next
			}
		}
		switch {
		case !t.isUsed(i):
			problems = append(problems, Problem{i, fmt.Sprintf("script %d (%s) was never used: %s", i+1, s.name(), t.unused(&s))})
		case given < len(s.Replies):
			problems = append(problems, Problem{i, fmt.Sprintf("script %d (%s): only %d of %d replies were asked for, the next would be %s", i+1, s.name(), given, len(s.Replies), s.Replies[given].String())})
		}
	}
	return problems
}

// unused explains why no conversation took a script.
func (t *table) unused(s *Script) string {
	for _, c := range t.all {
		if len(c.exchanges) > 0 && says(c.exchanges[0].Request, s.When) {
			return fmt.Sprintf("the conversation that fits it took script %d (%s), which is looked at before it", c.script+1, t.scripts[c.script].name())
		}
	}
	return "no conversation began that fits it"
}

// String describes a reply in one line.
func (r *Reply) String() string {
	if r.Error != nil {
		return fmt.Sprintf("error %d", r.Error.Status)
	}
	var parts []string
	if r.Text != "" || len(r.Calls) == 0 {
		parts = append(parts, "text "+brief(r.Text))
	}
	for _, c := range r.Calls {
		parts = append(parts, fmt.Sprintf("call %s %s", c.Name, canonical(object(c.Input))))
	}
	if r.Cut {
		parts = append(parts, "cut")
	}
	return strings.Join(parts, ", ")
}

// add puts an exchange into the conversation that it belongs to.
func (t *table) add(req *Request, reply Reply, opts RecordOptions) {
	keys, setting := req.keys(), req.setting()
	at := slices.IndexFunc(t.all, func(c *conversation) bool { return c.state == failed && c.same(keys, setting) })
	var c *conversation
	if at >= 0 {
		c = t.all[at]
	} else {
		if c = t.extended(keys, setting); c == nil {
			c = &conversation{}
			if opts.NewNames != nil {
				c.names = opts.NewNames()
			}
			t.all = append(t.all, c)
		}
		c.take(req, keys, opts.CountTokens)
	}
	x := &c.exchanges[len(c.exchanges)-1]
	x.Replies = append(x.Replies, reply)
	c.state = answered
	if reply.Error != nil || reply.Cut {
		c.state = failed
	}
	m := Message{Role: Assistant, Text: reply.Text, Calls: reply.Calls}
	c.reply = m.key()
}
