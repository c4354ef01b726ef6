package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reply is one answer of a model: a text, calls of tools or both, or an error.
type Reply struct {
	Text  string
	Calls []Call
	Error *Failure // answered with its status in place of text and calls
	// Cut drops the connection when text and calls were sent, before the events
	// that end an answer.
	Cut bool
	// Truncated says that the model stopped because it may not say more.
	Truncated bool
	// Delay is how long the server waits before it answers.
	Delay time.Duration
}

// Failure is an answer that is an error.
type Failure struct {
	Status     int            // 400 to 599
	Message    string         // "" means the status in words
	RetryAfter *time.Duration // of the header Retry-After, in whole seconds; nil sends none
}

// Script is what a model says in one conversation.
type Script struct {
	// When is a text that one of the person's messages must contain for a
	// conversation to take this script; "" fits each.
	When string
	// Side marks what an agent asks beside its work, such as a title: it is looked
	// at before the others, may be asked for any number of times or never, and each
	// time begins anew.
	Side bool
	// Replies are given in order.
	Replies []Reply
}

// Check returns an error that says which reply of which script cannot be given.
func Check(scripts []Script) error {
	if len(scripts) == 0 {
		return errors.New("there is no script, give at least one with a reply")
	}
	for i, s := range scripts {
		if len(s.Replies) == 0 {
			return fmt.Errorf("script %d (%s) has no reply, give it one", i+1, s.name())
		}
		for j, r := range s.Replies {
			if err := r.check(); err != nil {
				return fmt.Errorf("reply %d of script %d (%s): %w", j+1, i+1, s.name(), err)
			}
		}
	}
	return nil
}

func (s *Script) name() string {
	if s.When == "" {
		return "for every conversation"
	}
	return fmt.Sprintf("when %+q", s.When)
}

func (r *Reply) check() error {
	if r.Delay < 0 {
		return fmt.Errorf("the delay %s is below 0", r.Delay)
	}
	if r.Error != nil {
		switch {
		case r.Text != "" || len(r.Calls) > 0 || r.Cut || r.Truncated:
			return errors.New("an error has no text, call or cut beside it, make it two replies")
		case r.Error.Status < 400 || r.Error.Status > 599:
			return fmt.Errorf("the status %d is no error, use 400 to 599", r.Error.Status)
		case r.Error.RetryAfter != nil && (*r.Error.RetryAfter < 0 || *r.Error.RetryAfter%time.Second != 0):
			return fmt.Errorf("retryAfter %s is no whole number of seconds, the header can say nothing else", *r.Error.RetryAfter)
		}
		return nil
	}
	for _, c := range r.Calls {
		if c.Name == "" {
			return errors.New("a call needs the name of a tool")
		}
		if in := strings.TrimSpace(string(object(c.Input))); !json.Valid([]byte(in)) || in[0] != '{' {
			return fmt.Errorf("the input of the call of %s is no JSON object", c.Name)
		}
	}
	return nil
}

// usage are the tokens that an answer claims.
type usage struct{ in, out int }

// answer is a reply on its way to a client, with the names that the client has
// for the tools.
type answer struct {
	reply Reply
	model string
	id    string // unique among the answers of a server
	used  usage
	usage bool // as in Request
}

// numbered gives the calls their ids.
func (a *answer) numbered(prefix string) {
	calls := make([]Call, len(a.reply.Calls))
	for i, c := range a.reply.Calls {
		c.ID = fmt.Sprintf("%s_%s_%d", prefix, a.id, i+1)
		c.Input = json.RawMessage(canonical(object(c.Input)))
		calls[i] = c
	}
	a.reply.Calls = calls
}

// message is the reply as the client will repeat it.
func (a *answer) message() Message {
	return Message{Role: Assistant, Text: a.reply.Text, Calls: a.reply.Calls}
}
