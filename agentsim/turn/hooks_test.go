package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// recorder returns hooks that write down their phases, and fail in one.
func recorder(name, failIn string, phases *[]string) turn.Hooks {
	at := func(phase string) error {
		*phases = append(*phases, name+"."+phase)
		if phase == failIn {
			return errors.New("hook trouble")
		}
		return nil
	}
	return turn.Hooks{
		Name:      name,
		BeforeRun: func(context.Context, turn.RunInfo) error { return at("beforeRun") },
		AfterRecall: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, error) {
			return s, at("afterRecall")
		},
		BeforePlan: func(context.Context, turn.RunInfo, []turn.Step) error { return at("beforePlan") },
		AfterPlan:  func(context.Context, turn.RunInfo, turn.Plan) error { return at("afterPlan") },
		BeforeTool: func(context.Context, turn.RunInfo, turn.ToolCall) (turn.ToolDecision, error) {
			return turn.ToolDecision{}, at("beforeTool")
		},
		AfterTool: func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) { return s.Text, at("afterTool") },
		BeforeFallback: func(context.Context, turn.RunInfo, turn.FallbackRequest) error {
			return at("beforeFallback")
		},
		AfterAnswer: func(_ context.Context, _ turn.RunInfo, a string) (string, error) { return a, at("afterAnswer") },
		BeforeRemember: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, bool, error) {
			return s, true, at("beforeRemember")
		},
		OnError:  func(context.Context, turn.RunInfo, error) error { return at("onError") },
		OnFinish: func(context.Context, turn.RunInfo, *turn.Outcome, error) error { return at("onFinish") },
	}
}

// script has one tool step and ends with the fallback, so that every phase runs.
func script() []turn.ScriptedReply {
	return replies(tool("echo", `{"text":"a"}`), js(`{"kind":"escalate","brief":""}`))
}

func cloud(context.Context, turn.FallbackRequest) (string, error) { return "from the cloud", nil }

func TestHooksRunInOrder(t *testing.T) {
	var phases []string
	opts := turn.Options{
		Functions: []turn.Function{echo}, Fallback: cloud,
		Hooks: []turn.Hooks{recorder("a", "", &phases), recorder("b", "", &phases)},
	}
	run(t, opts, script()...)
	var want []string
	for _, phase := range []string{
		"beforeRun", "afterRecall", "beforePlan", "afterPlan", "beforeTool", "afterTool",
		"beforePlan", "afterPlan", "beforeFallback", "afterAnswer", "beforeRemember", "onFinish",
	} {
		want = append(want, "a."+phase, "b."+phase)
	}
	if diff := cmp.Diff(want, phases); diff != "" {
		t.Errorf("the phases (-want +got):\n%s", diff)
	}
}

func TestFailingHookFailsTheRun(t *testing.T) {
	for _, phase := range []string{
		"beforeRun", "afterRecall", "beforePlan", "afterPlan", "beforeTool", "afterTool", "beforeFallback", "afterAnswer", "beforeRemember",
	} {
		var phases []string
		opts := turn.Options{Functions: []turn.Function{echo}, Fallback: cloud, Hooks: []turn.Hooks{recorder("audit", phase, &phases)}}
		out, err := newAgent(t, turn.NewScripted(script()...), opts).Run(t.Context(), "hi", nil)
		var he *turn.HookError
		if out != nil || !errors.As(err, &he) || he.Name != "audit" || he.Phase != phase {
			t.Errorf("%s: the run gave %v, %v", phase, out, err)
		}
		if n := len(phases); n < 3 || phases[n-2] != "audit.onError" || phases[n-1] != "audit.onFinish" {
			t.Errorf("%s: after the failure came %v", phase, phases)
		}
	}
}

// OnError and OnFinish see an aborted run with a ctx that still works, and
// cannot change how it ended.
func TestLastHooksNeverReplaceTheOutcome(t *testing.T) {
	var phases []string
	var ev events
	finish := recorder("late", "onFinish", &phases)
	opts := turn.Options{Functions: []turn.Function{echo}, Hooks: []turn.Hooks{finish}, OnEvent: ev.on}
	if out, _ := run(t, opts, answer("fine")...); out.Answer != "fine" {
		t.Errorf("the answer became %q", out.Answer)
	}
	if got := ev.labels(turn.EventHookError); got != "onFinish" {
		t.Errorf("the events are %q", got)
	}

	ctx, cancel := context.WithCancel(t.Context())
	var seen error
	opts.Hooks = []turn.Hooks{{
		BeforePlan: func(context.Context, turn.RunInfo, []turn.Step) error { cancel(); return nil },
		OnError:    func(ctx context.Context, _ turn.RunInfo, err error) error { seen = err; return ctx.Err() },
		OnFinish: func(ctx context.Context, _ turn.RunInfo, out *turn.Outcome, err error) error {
			if out != nil || err == nil {
				t.Errorf("onFinish saw %v, %v", out, err)
			}
			return ctx.Err()
		},
	}}
	ev = events{}
	_, err := newAgent(t, turn.NewScripted(), opts).Run(ctx, "hi", nil)
	if !errors.Is(err, context.Canceled) || !errors.Is(seen, context.Canceled) || len(ev.of(turn.EventHookError)) != 0 {
		t.Errorf("the run gave %v, onError saw %v, events %v", err, seen, ev.all)
	}
}

func TestBeforeToolChangesDeniesStops(t *testing.T) {
	decide := func(d turn.ToolDecision) []turn.Hooks {
		return []turn.Hooks{{BeforeTool: func(context.Context, turn.RunInfo, turn.ToolCall) (turn.ToolDecision, error) { return d, nil }}}
	}
	opts := turn.Options{Functions: []turn.Function{echo}, Hooks: decide(turn.ToolDecision{Input: json.RawMessage(`{"text":"changed"}`)})}
	if out, _ := run(t, opts, replies(tool("echo", `{"text":"a"}`), answer("ok"))...); out.Steps[0].Text != "changed" || string(out.Steps[0].Input) != `{"text":"changed"}` {
		t.Errorf("a changed input gave %+v", out.Steps[0])
	}
	if out, _ := run(t, opts, replies(tool("echo", `{"text":"a","times":1}`), tool("echo", `{"text":"b"}`), answer("ok"))...); statuses(out) != "ok cached" {
		t.Errorf("two calls that a hook made one are %s", statuses(out))
	}
	opts.Hooks = decide(turn.ToolDecision{Deny: "not on Sundays"})
	out, _ := run(t, opts, replies(tool("echo", `{"text":"a"}`), answer("ok"))...)
	if statuses(out) != "declined" || !strings.Contains(out.Steps[0].Text, "not on Sundays") || out.Steps[0].Code != codes.NotApproved {
		t.Errorf("a denied call gave %+v", out.Steps[0])
	}
	opts.Hooks = decide(turn.ToolDecision{Stop: true})
	if out, _ := run(t, opts, tool("echo", `{"text":"a"}`), text("that is all")); len(out.Steps) != 0 || out.Answer != "that is all" {
		t.Errorf("a stop gave %+v", out)
	}
	for _, input := range []string{`[]`, `null`, `{"text":`, ``} {
		opts.Hooks = decide(turn.ToolDecision{Input: json.RawMessage(input)})
		_, err := newAgent(t, turn.NewScripted(tool("echo", `{"text":"a"}`)), opts).Run(t.Context(), "hi", nil)
		var hook *turn.HookError
		if !errors.As(err, &hook) || hook.Phase != "beforeTool" {
			t.Errorf("the input %q, which is no object, gave %v", input, err)
		}
	}
}

// Hooks get copies: writing into them changes nothing.
func TestHooksGetCopies(t *testing.T) {
	spoil := turn.Hooks{
		AfterRecall: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, error) { return s, nil },
		BeforePlan: func(_ context.Context, _ turn.RunInfo, steps []turn.Step) error {
			for i := range steps {
				steps[i].Text, steps[i].Input[0] = "spoiled", 'X'
			}
			return nil
		},
		BeforeTool: func(_ context.Context, _ turn.RunInfo, c turn.ToolCall) (turn.ToolDecision, error) {
			c.Input[0] = 'X'
			return turn.ToolDecision{}, nil
		},
		AfterPlan: func(_ context.Context, _ turn.RunInfo, p turn.Plan) error {
			if p.Input != nil {
				p.Input[0] = 'X'
			}
			return nil
		},
		OnFinish: func(_ context.Context, _ turn.RunInfo, out *turn.Outcome, _ error) error {
			out.Answer, out.Steps[0].Text = "spoiled", "spoiled"
			return nil
		},
	}
	out, _ := run(t, turn.Options{Functions: []turn.Function{echo}, Hooks: []turn.Hooks{spoil}}, replies(tool("echo", `{"text":"a"}`), answer("fine"))...)
	if out.Answer != "fine" || out.Steps[0].Text != "a" || string(out.Steps[0].Input) != `{"text":"a"}` {
		t.Errorf("the outcome became %+v", out)
	}
}

// That goes for structured results, for what a fallback is given, and for what
// is remembered.
func TestHooksGetDeepCopies(t *testing.T) {
	spoilSteps := func(steps []turn.Step) {
		for i := range steps {
			switch o := steps[i].Output.(type) {
			case *agenttool.ReadOutput:
				o.Content, *o.NextCursor = "spoiled", "spoiled"
			case *agenttool.GlobOutput:
				o.Matches[0].Path, *o.NextCursor = "spoiled", "spoiled"
			case *agenttool.GrepOutput:
				o.Matches[0].Path, *o.NextCursor = "spoiled", "spoiled"
			}
		}
	}
	m := &memory.InProcess{}
	if err := m.Save(t.Context(), memory.State{Recent: []memory.Exchange{{Ask: "q", Answer: "a"}}}, ""); err != nil {
		t.Fatal(err)
	}
	spoil := turn.Hooks{
		AfterTool: func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) {
			spoilSteps([]turn.Step{s})
			return s.Text, nil
		},
		BeforePlan: func(_ context.Context, _ turn.RunInfo, steps []turn.Step) error { spoilSteps(steps); return nil },
		BeforeFallback: func(_ context.Context, _ turn.RunInfo, req turn.FallbackRequest) error {
			spoilSteps(req.Steps)
			req.Recent[0].Ask = "spoiled"
			return nil
		},
	}
	var got turn.FallbackRequest
	opts := turn.Options{
		Files: files(t, map[string]string{"/a.txt": "one\ntwo\none\n", "/b" + strings.Repeat("x", 150): "one\n"}), Memory: m, Hooks: []turn.Hooks{spoil},
		Budgets: turn.Budgets{ToolResultTokens: 60},
		Fallback: func(_ context.Context, req turn.FallbackRequest) (string, error) {
			got = req
			return "ok", nil
		},
		OnEvent: func(e turn.Event) {
			if e.Step != nil {
				spoilSteps([]turn.Step{*e.Step})
			}
		},
	}
	out, _ := run(t, opts, tool("readFile", `{"path":"/a.txt","limit":1}`), tool("glob", `{"pattern":"/*"}`), tool("grep", `{"pattern":"one"}`), js(`{"kind":"escalate","brief":""}`))
	for _, s := range append(got.Steps, out.Steps...) {
		if text, err := json.Marshal(s.Output); err != nil || s.Output.Next() == "" || strings.Contains(string(text), "spoiled") {
			t.Errorf("the output of %s became %s, %v", s.Tool, text, err)
		}
	}
	if got.Recent[0].Ask != "q" {
		t.Errorf("the fallback was given %+v", got.Recent)
	}
}

// A hook may name the answer of a fallback that gave none.
func TestAfterAnswerSeesAnEmptyFallback(t *testing.T) {
	sorry := turn.Hooks{AfterAnswer: func(_ context.Context, _ turn.RunInfo, a string) (string, error) { return a + "sorry\xff", nil }}
	silent := func(context.Context, turn.FallbackRequest) (string, error) { return "", nil }
	if out, _ := run(t, turn.Options{Hooks: []turn.Hooks{sorry}, Fallback: silent}, fails(turn.ErrorProvider)); out.Answer != "sorry\uFFFD" {
		t.Errorf("the outcome is %+v", out)
	}
}

func TestAfterAnswerComesBeforeEverythingElse(t *testing.T) {
	var ev events
	m := &memory.InProcess{}
	sign := turn.Hooks{AfterAnswer: func(_ context.Context, _ turn.RunInfo, a string) (string, error) { return a + " – the agent", nil }}
	out, _ := run(t, turn.Options{Hooks: []turn.Hooks{sign}, Memory: m, OnEvent: ev.on}, text("hello"))
	l, err := m.Load(t.Context())
	const want = "hello – the agent"
	if err != nil || out.Answer != want || ev.of(turn.EventAnswer)[0].Text != want || l.State.Recent[0].Answer != want {
		t.Errorf("returned %q, emitted %q, saved %+v, %v", out.Answer, ev.of(turn.EventAnswer)[0].Text, l.State, err)
	}
}

func TestMemoryHooks(t *testing.T) {
	m := &memory.InProcess{}
	if err := m.Save(t.Context(), memory.State{Summary: "stored"}, ""); err != nil {
		t.Fatal(err)
	}
	view := turn.Hooks{AfterRecall: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, error) {
		s.Summary = "only for this turn"
		return s, nil
	}}
	_, calls := run(t, turn.Options{Memory: m, Hooks: []turn.Hooks{view}}, text("a"))
	l, _ := m.Load(t.Context())
	if !strings.Contains(calls[0].Request.Prompt(), "only for this turn") || l.State.Summary != "stored" || len(l.State.Recent) != 1 {
		t.Errorf("the view is not what the prompt shows, or it was saved: %+v", l.State)
	}

	skip := turn.Hooks{BeforeRemember: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, bool, error) {
		return s, false, nil
	}}
	run(t, turn.Options{Memory: m, Hooks: []turn.Hooks{skip}}, text("b"))
	if l, _ := m.Load(t.Context()); len(l.State.Recent) != 1 {
		t.Errorf("a skipped exchange was saved: %+v", l.State)
	}

	swell := turn.Hooks{BeforeRemember: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, bool, error) {
		s.Summary = strings.Repeat("long ", 2000)
		for i := range 9 {
			s.Recent = append(s.Recent, memory.Exchange{Ask: fmt.Sprint(i)})
		}
		return s, true, nil
	}}
	run(t, turn.Options{Memory: m, Hooks: []turn.Hooks{swell}}, text("c"))
	l, _ = m.Load(t.Context())
	if got := agenttool.EstimateTokens(l.State.Summary); got > 512 || got < 500 || len(l.State.Recent) != 3 || l.State.Recent[2].Ask != "8" {
		t.Errorf("the limits do not apply after the hook: %d tokens, %d exchanges", got, len(l.State.Recent))
	}
}
