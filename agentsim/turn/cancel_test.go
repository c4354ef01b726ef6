package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// stages are the callbacks of a turn that writes and then falls back, in order.
var stages = []string{"window", "beforeRun", "factory", "afterRecall", "beforePlan", "model", "afterPlan", "beforeTool", "approval", "tool", "afterTool", "beforeFallback", "fallback"}

// staged is an agent that tells at which stage it is.
func staged(t *testing.T, m memory.Memory, at func(stage string) error) *turn.Agent {
	write := echo
	write.Writes = true
	write.Call = func(context.Context, string, json.RawMessage) (string, error) { return "", at("tool") }
	return newAgent(t, stopping{at}, turn.Options{
		Functions: []turn.Function{write}, MaxSteps: 1,
		WindowFor: func(context.Context) (int, error) { return 4096, at("window") },
		MemoryFor: func(context.Context, string, bool) (memory.Memory, error) { return m, at("factory") },
		Approve:   func(context.Context, turn.ApprovalRequest) (bool, error) { return true, at("approval") },
		Fallback:  func(context.Context, turn.FallbackRequest) (string, error) { return "x", at("fallback") },
		Hooks: []turn.Hooks{{
			BeforeRun: func(context.Context, turn.RunInfo) error { return at("beforeRun") },
			AfterRecall: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, error) {
				return s, at("afterRecall")
			},
			BeforePlan: func(context.Context, turn.RunInfo, []turn.Step) error { return at("beforePlan") },
			AfterPlan:  func(context.Context, turn.RunInfo, turn.Plan) error { return at("afterPlan") },
			BeforeTool: func(context.Context, turn.RunInfo, turn.ToolCall) (turn.ToolDecision, error) {
				return turn.ToolDecision{}, at("beforeTool")
			},
			AfterTool:      func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) { return s.Text, at("afterTool") },
			BeforeFallback: func(context.Context, turn.RunInfo, turn.FallbackRequest) error { return at("beforeFallback") },
		}},
	})
}

// stopping is a model that calls the tool.
type stopping struct{ at func(string) error }

func (m stopping) Reply(context.Context, turn.Request) (turn.Reply, error) {
	return tool("echo", `{"text":"a"}`).Reply, m.at("model")
}

// A run that is cancelled ends as such wherever it is, whether the callback
// there reports it or carries on; nothing that acts comes after it, nothing is
// remembered, and the next run is let in.
func TestCancellation(t *testing.T) {
	acts := []string{"model", "approval", "tool", "fallback"}
	for i, where := range stages {
		for _, heeds := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			var seen []string
			at := func(stage string) error {
				seen = append(seen, stage)
				if stage != where {
					return nil
				}
				cancel()
				if heeds {
					return ctx.Err()
				}
				return nil
			}
			m := &memory.InProcess{}
			a := staged(t, m, at)
			out, err := a.Run(ctx, "hi", nil)
			if out != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled in %s (heeded %t): %+v, %v", where, heeds, out, err)
			}
			for _, act := range acts {
				if slices.Index(stages, act) > i && slices.Contains(seen, act) {
					t.Errorf("cancelled in %s (heeded %t): the %s was called all the same", where, heeds, act)
				}
			}
			if l, _ := m.Load(t.Context()); l.Version != "" {
				t.Errorf("cancelled in %s (heeded %t): it was remembered", where, heeds)
			}
			where = "" // let the next run pass
			if out, err := a.Run(t.Context(), "again", nil); err != nil || out.Answer != "x" {
				t.Errorf("the next run gave %+v, %v", out, err)
			}
			where = stages[i]
			cancel()
		}
	}
}

// A panic in any callback reaches the caller of Run and leaves the conversation
// usable.
func TestPanicsLetTheNextRunIn(t *testing.T) {
	for _, where := range stages {
		panics := where
		a := staged(t, &memory.InProcess{}, func(stage string) error {
			if stage == panics {
				panic("boom at " + stage)
			}
			return nil
		})
		func() {
			defer func() {
				if got := recover(); got != "boom at "+where {
					t.Errorf("a panic in %s came out as %v", where, got)
				}
			}()
			out, err := a.Run(t.Context(), "hi", nil)
			t.Errorf("a panic in %s gave %v, %v", where, out, err)
		}()
		panics = ""
		if out, err := a.Run(t.Context(), "again", nil); err != nil || out.Answer != "x" {
			t.Errorf("after a panic in %s: %+v, %v", where, out, err)
		}
	}
}

// The last hooks also see a run that was given up while it waited.
func TestLastHooksSeeAWaitThatWasGivenUp(t *testing.T) {
	var seen []string
	hooks := turn.Hooks{
		BeforeRun: func(_ context.Context, r turn.RunInfo) error { return nil },
		OnError: func(ctx context.Context, r turn.RunInfo, err error) error {
			seen = append(seen, r.Ask+" error")
			return ctx.Err()
		},
		OnFinish: func(_ context.Context, r turn.RunInfo, out *turn.Outcome, err error) error {
			if out != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("onFinish saw %v, %v", out, err)
			}
			seen = append(seen, r.Ask+" finish")
			return nil
		},
	}
	g := newGate()
	a := newAgent(t, g, turn.Options{Hooks: []turn.Hooks{hooks}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string, 1)
	start(t, a, ctx, "first", "a", done)
	<-g.arrived
	waiting, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, err := a.Run(waiting, "second", &turn.RunOptions{Conversation: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting run gave %v", err)
	}
	if got := strings.Join(seen, ", "); got != "second error, second finish" {
		t.Errorf("the hooks saw %s", got)
	}
	cancel()
	<-done
}
