package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ScriptedReply is one reply of a Scripted model: Reply, or Err if that is set.
type ScriptedReply struct {
	Reply
	Err error
}

// ScriptedCall is one request that a Scripted model was sent, and its reply.
type ScriptedCall struct {
	Request Request
	ScriptedReply
}

// Scripted is a Model that gives fixed replies in order and keeps every request.
// Running out is a provider error to the agent; ask Done after each run. It is
// safe for concurrent use, but only one run at a time has a fixed order.
type Scripted struct {
	// Resolve, when set, rewrites the arguments of tools in a reply just before it
	// is given.
	Resolve func(json.RawMessage) (json.RawMessage, error)

	mu      sync.Mutex
	replies []ScriptedReply // guarded by mu
	calls   []ScriptedCall  // guarded by mu
	err     error           // the first failure of the script itself; guarded by mu
}

var _ Model = (*Scripted)(nil)

// NewScripted returns a model with these replies.
func NewScripted(replies ...ScriptedReply) *Scripted {
	return &Scripted{replies: slices.Clone(replies)}
}

// Reply implements Model.
func (s *Scripted) Reply(ctx context.Context, req Request) (Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	reply := s.next(req)
	s.calls = append(s.calls, ScriptedCall{req, reply})
	return reply.Reply, reply.Err
}

func (s *Scripted) next(req Request) ScriptedReply {
	n := len(s.calls)
	if n >= len(s.replies) {
		return s.fail(fmt.Errorf("the script ran out: it has no reply for model call %d, which asks for %s: %q", n+1, req.Stage, asked(req)))
	}
	reply := s.replies[n]
	if s.Resolve == nil {
		return reply
	}
	var err error
	if reply.ToolCall != nil && reply.ToolCall.Input != nil {
		call := *reply.ToolCall
		call.Input, err = s.Resolve(call.Input)
		reply.ToolCall = &call
	}
	if req.Stage == StageArguments && reply.JSON != nil {
		reply.JSON, err = s.Resolve(reply.JSON)
	} else if args := object(reply.Reply); req.Stage == StageArguments && args != nil {
		var resolved json.RawMessage
		resolved, err = s.Resolve(args)
		reply.Text = strings.Replace(reply.Text, string(args), string(resolved), 1)
	}
	if err != nil {
		return s.fail(fmt.Errorf("model call %d (%s): %w", n+1, req.Stage, err))
	}
	return reply
}

// asked is the end of a prompt, which says what is wanted.
func asked(req Request) string {
	if len(req.Parts) == 0 {
		return ""
	}
	return shorten(oneLine(req.Parts[len(req.Parts)-1].Text), 200)
}

func (s *Scripted) fail(err error) ScriptedReply {
	if s.err == nil {
		s.err = err
	}
	return ScriptedReply{Err: &ModelError{ErrorProvider, err.Error(), err}}
}

// Calls returns what the model was sent so far, and what it replied.
func (s *Scripted) Calls() []ScriptedCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Err returns an error if the script ran out or a reply could not be resolved.
func (s *Scripted) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Done returns Err, or an error if replies are left over.
func (s *Scripted) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if left := len(s.replies) - len(s.calls); left > 0 {
		return fmt.Errorf("%d of %d scripted replies were not used, the first of them is %s", left, len(s.replies), s.replies[len(s.calls)])
	}
	return nil
}

// String describes the reply in one line.
func (r ScriptedReply) String() string {
	switch {
	case r.Err != nil:
		return "error: " + r.Err.Error()
	case r.ToolCall != nil:
		return fmt.Sprintf("toolCall: %s %s", r.ToolCall.Name, r.ToolCall.Input)
	case r.JSON != nil:
		return "json: " + string(r.JSON)
	}
	return fmt.Sprintf("text: %q", r.Text)
}
