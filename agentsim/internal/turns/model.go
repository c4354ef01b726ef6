package turns

import (
	"context"

	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// relay is the agent's model: it passes requests to the script of the turn.
type relay struct {
	script *turn.Scripted
	left   int                // replies that were not given yet
	cancel context.CancelFunc // of a turn that is cancelled when none is left, else nil
	trace  *trace
}

// Reply implements turn.Model.
func (m *relay) Reply(ctx context.Context, req turn.Request) (turn.Reply, error) {
	if m.left == 0 && m.cancel != nil {
		m.cancel()
		m.trace.call(req, turn.ScriptedReply{Err: context.Canceled})
		return turn.Reply{}, context.Canceled
	}
	m.left--
	reply, err := m.script.Reply(ctx, req)
	m.trace.call(req, turn.ScriptedReply{Reply: reply, Err: err})
	return reply, err
}

func replies(specs []modelReply) []turn.ScriptedReply {
	var out []turn.ScriptedReply
	for i := range specs {
		s := &specs[i]
		var reply turn.ScriptedReply
		switch {
		case s.Text != nil:
			reply.Text = *s.Text
		case s.JSON != nil:
			reply.JSON = s.JSON
		case s.ToolCall != nil:
			reply.ToolCall = &turn.ToolCall{Name: s.ToolCall.Name, Input: s.ToolCall.Input}
		default:
			kind := turn.ErrorKind(s.Error.Kind)
			if kind == "" {
				kind = turn.ErrorProvider
			}
			reply.Err = &turn.ModelError{Kind: kind, Message: s.Error.Message}
		}
		out = append(out, reply)
	}
	return out
}
