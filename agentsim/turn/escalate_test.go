package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

func TestFallbackGetsEverything(t *testing.T) {
	m := &memory.InProcess{}
	state := memory.State{Summary: "Goal: x", Recent: []memory.Exchange{{Ask: "q", Answer: "a"}}}
	if err := m.Save(t.Context(), state, ""); err != nil {
		t.Fatal(err)
	}
	var got turn.FallbackRequest
	opts := turn.Options{Memory: m, Functions: []turn.Function{echo}, Fallback: func(_ context.Context, req turn.FallbackRequest) (string, error) {
		got = req
		return "from the cloud", nil
	}}
	out, _ := run(t, opts, tool("echo", `{"text":"found"}`), js(`{"kind":"escalate","why":"too hard","brief":""}`))
	if out.HandledBy != turn.Cloud || out.Answer != "from the cloud" || out.Reason != turn.ReasonConductorAsked || out.BestEffort {
		t.Errorf("the outcome is %+v", out)
	}
	if got.Ask != "the request" || got.Summary != "Goal: x" || !cmp.Equal(got.Recent, state.Recent) || len(got.Steps) != 1 ||
		got.Steps[0].Text != "found" || got.Reason != turn.ReasonConductorAsked || got.Err == nil || got.Err.Error() != "too hard" {
		t.Errorf("the fallback got %+v", got)
	}
	if l, _ := m.Load(t.Context()); len(l.State.Recent) != 2 || l.State.Recent[1].Answer != "from the cloud" {
		t.Errorf("the memory is %+v", l.State)
	}
}

func TestEscalationWithoutFallback(t *testing.T) {
	found := tool("echo", `{"text":"found it\nsecond line"}`)
	for name, tt := range map[string]struct {
		script     []turn.ScriptedReply
		reason     turn.Reason
		bestEffort bool
		contains   string
	}{
		"conductor":      {replies(found, js(`{"kind":"escalate","brief":""}`)), turn.ReasonConductorAsked, true, "found it …"},
		"no steps":       {replies(js(`{"kind":"escalate","brief":""}`)), turn.ReasonConductorAsked, true, "No step led to a result"},
		"plan":           {replies(found, text("what?"), js(`{"kind":"tool","tool":"nothing","brief":""}`)), turn.ReasonPlanInvalid, true, "found it"},
		"plan of a list": {replies(js(`[]`), js(`{"kind":5}`)), turn.ReasonPlanInvalid, true, ""},
		"no brief":       {replies(js(`{"kind":"answer"}`), js(`{"kind":"answer","brief":null}`)), turn.ReasonPlanInvalid, true, ""},
		"unknown call":   {replies(tool("nothing", `{}`), tool("nothing", `{}`)), turn.ReasonPlanInvalid, true, ""},
		"empty answer":   {replies(js(`{"kind":"answer","brief":""}`), text(" "), js(`{"a":1}`)), turn.ReasonEmptyAnswer, true, ""},
		"provider":       {replies(found, fails(turn.ErrorProvider)), turn.ReasonModelError, false, ""},
		"any error":      {replies(turn.ScriptedReply{Err: errors.New("socket closed")}), turn.ReasonModelError, false, ""},
		"at the answer":  {replies(js(`{"kind":"answer","brief":""}`), fails(turn.ErrorProvider)), turn.ReasonModelError, false, ""},
	} {
		m := &memory.InProcess{}
		out, _ := run(t, turn.Options{Functions: []turn.Function{echo}, Memory: m}, tt.script...)
		handler := turn.Device
		if !tt.bestEffort {
			handler = turn.Nobody
		}
		if out.Reason != tt.reason || out.BestEffort != tt.bestEffort || out.HandledBy != handler || !strings.Contains(out.Answer, tt.contains) {
			t.Errorf("%s: %+v", name, out)
		}
		if !tt.bestEffort && out.Answer != "" {
			t.Errorf("%s: the answer was made up: %q", name, out.Answer)
		}
		if l, _ := m.Load(t.Context()); l.Version != "" {
			t.Errorf("%s: it was remembered: %+v", name, l.State)
		}
	}
}

func TestGuardrail(t *testing.T) {
	for name, script := range map[string][]turn.ScriptedReply{
		"at the plan":      replies(fails(turn.ErrorGuardrail)),
		"at the arguments": replies(js(planEcho), fails(turn.ErrorGuardrail)),
		"at the answer":    replies(js(`{"kind":"answer","brief":""}`), fails(turn.ErrorGuardrail)),
	} {
		m := &memory.InProcess{}
		opts := turn.Options{Functions: []turn.Function{echo}, Memory: m, Fallback: func(context.Context, turn.FallbackRequest) (string, error) {
			t.Errorf("%s: the fallback was asked", name)
			return "", nil
		}}
		out, _ := run(t, opts, script...)
		l, _ := m.Load(t.Context())
		if !out.Refused || out.Answer != "" || out.HandledBy != turn.Device || out.Reason != "" || l.Version != "" {
			t.Errorf("%s: %+v, remembered %+v", name, out, l.State)
		}
	}
}

func TestContextBudget(t *testing.T) {
	out, calls := run(t, turn.Options{Window: 500, Functions: []turn.Function{echo}})
	if out.Reason != turn.ReasonContextBudget || len(calls) != 0 || out.Answer != "" {
		t.Errorf("the outcome is %+v after %d calls", out, len(calls))
	}
	m := &memory.InProcess{}
	state := memory.State{Summary: "kept", Recent: []memory.Exchange{{Ask: "1"}, {Ask: "2"}, {Ask: "3"}}}
	if err := m.Save(t.Context(), state, ""); err != nil {
		t.Fatal(err)
	}
	out, _ = run(t, turn.Options{Window: 500, Functions: []turn.Function{echo}, Memory: m, Fallback: cloud})
	l, _ := m.Load(t.Context())
	if out.HandledBy != turn.Cloud || l.State.Summary != "kept" || len(l.State.Recent) != 3 || l.State.Recent[2].Answer != "from the cloud" {
		t.Errorf("the outcome is %+v, the memory %+v", out, l.State)
	}
}

func TestFailingFallback(t *testing.T) {
	a := newAgent(t, turn.NewScripted(fails(turn.ErrorProvider)), turn.Options{Fallback: func(context.Context, turn.FallbackRequest) (string, error) {
		return "", errors.New("no network")
	}})
	if out, err := a.Run(t.Context(), "hi", nil); out != nil || err == nil || !strings.Contains(err.Error(), "model-error") || !strings.Contains(err.Error(), "no network") {
		t.Errorf("the run gave %v, %v", out, err)
	}
}

// When model and fallback are both down, the device is asked again as soon as it
// is back: only turns that the fallback answered count, and a session in which it
// fails ends.
func TestBothDown(t *testing.T) {
	bad := fails(turn.ErrorProvider)
	down := errors.New("no network")
	for name, tt := range map[string]struct {
		device   []turn.ScriptedReply
		fallback []error // of each time that it is asked
		want     []string
	}{
		"four times": {
			[]turn.ScriptedReply{bad, bad, bad, bad, text("back")}, []error{down, down, down, down},
			[]string{"error", "error", "error", "error", "device"},
		},
		"between answers": {
			[]turn.ScriptedReply{bad, bad, bad, bad, bad}, []error{nil, nil, down, nil, nil},
			[]string{"cloud model-error", "cloud model-error", "error", "cloud model-error", "cloud session-fallback"},
		},
		"in a session": {
			[]turn.ScriptedReply{bad, bad, bad, text("back")}, []error{nil, nil, nil, nil, down},
			[]string{"cloud model-error", "cloud model-error", "cloud model-error", "cloud session-fallback", "error", "device"},
		},
	} {
		asked := 0
		a := newAgent(t, turn.NewScripted(tt.device...), turn.Options{Fallback: func(context.Context, turn.FallbackRequest) (string, error) {
			err := tt.fallback[asked]
			asked++
			return "from the cloud", err
		}})
		for i, want := range tt.want {
			out, err := a.Run(t.Context(), "hi", nil)
			got := "error"
			if err == nil {
				got = strings.TrimSpace(string(out.HandledBy) + " " + string(out.Reason))
			}
			if got != want {
				t.Errorf("%s: turn %d is %s, want %s", name, i+1, got, want)
			}
		}
	}

	// A model error without a fallback does not count for a later one with it.
	a := newAgent(t, turn.NewScripted(bad, bad, bad, text("back")), turn.Options{})
	for range 3 {
		if _, err := a.Run(t.Context(), "hi", nil); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := a.Run(t.Context(), "hi", &turn.RunOptions{Fallback: cloud}); err != nil || out.HandledBy != turn.Device {
		t.Errorf("with a fallback at last: %+v, %v", out, err)
	}
}

// An outcome says what went wrong, not only of what kind it was.
func TestOutcomeSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		opts   turn.Options
		script []turn.ScriptedReply
		want   string
	}{
		"no tool":     {turn.Options{Functions: []turn.Function{echo}}, replies(tool("ecko", `{}`), tool("ecko", `{}`)), `there is no tool "ecko", only echo`},
		"provider":    {turn.Options{}, replies(fails(turn.ErrorProvider)), "provider error"},
		"cloud":       {turn.Options{Fallback: cloud}, replies(fails(turn.ErrorProvider)), "provider error"},
		"conductor":   {turn.Options{Functions: []turn.Function{echo}}, replies(js(`{"kind":"escalate","why":"too hard","brief":""}`)), "too hard"},
		"all is well": {turn.Options{}, replies(text("hi")), ""},
	} {
		out, _ := run(t, tt.opts, tt.script...)
		if got := fmt.Sprint(out.Err); tt.want == "" && out.Err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %v, want %q", name, out.Err, tt.want)
		}
	}
}

// What the model has to be asked once more is told, with why.
func TestRetriesAreTold(t *testing.T) {
	for name, tt := range map[string]struct {
		opts   turn.Options
		script []turn.ScriptedReply
		want   string
	}{
		"a plan":    {turn.Options{Functions: []turn.Function{echo}}, replies(tool("ecko", `{}`), answer("ok")), `plan: the reply is not of the form asked for: there is no tool "ecko", only echo`},
		"an answer": {turn.Options{}, replies(text(""), text("ok")), "answer: the answer is empty"},
		"neither":   {turn.Options{}, replies(text("ok")), ""},
	} {
		var ev events
		tt.opts.OnEvent = ev.on
		run(t, tt.opts, tt.script...)
		var got []string
		for _, e := range ev.of(turn.EventRetry) {
			got = append(got, fmt.Sprintf("%s: %v", e.Label, e.Err))
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: told %q, want %q", name, got, tt.want)
		}
	}
}

// Three model errors in a row leave the conversation to its fallback. Others
// are not touched, nor is one without a fallback.
func TestSessionFallback(t *testing.T) {
	bad := fails(turn.ErrorProvider)
	model := turn.NewScripted(bad, bad, text("good"), bad, bad, bad)
	a := newAgent(t, model, turn.Options{Fallback: cloud})
	want := []turn.Reason{turn.ReasonModelError, turn.ReasonModelError, "", turn.ReasonModelError, turn.ReasonModelError, turn.ReasonModelError, turn.ReasonSession, turn.ReasonSession}
	for i, reason := range want {
		out, err := a.Run(t.Context(), "hi", nil)
		if err != nil || out.Reason != reason {
			t.Fatalf("turn %d: %+v, %v; want reason %q", i+1, out, err, reason)
		}
	}
	if n := len(model.Calls()); n != 6 {
		t.Errorf("the device model was called %d times", n)
	}
	if _, err := a.Run(t.Context(), "hi", &turn.RunOptions{Conversation: "other"}); err != nil || len(model.Calls()) != 7 {
		t.Errorf("another conversation did not ask the device model: %v", err)
	}
	a.Forget("")
	if _, err := a.Run(t.Context(), "hi", nil); err != nil || len(model.Calls()) != 8 {
		t.Errorf("a forgotten conversation did not ask the device model: %v", err)
	}

	// A turn that is escalated for another reason ends the row too.
	model = turn.NewScripted(bad, bad, text(""), text(""), bad, bad, bad)
	a = newAgent(t, model, turn.Options{Fallback: cloud})
	for i, reason := range []turn.Reason{turn.ReasonModelError, turn.ReasonModelError, turn.ReasonEmptyAnswer, turn.ReasonModelError, turn.ReasonModelError, turn.ReasonModelError, turn.ReasonSession} {
		out, err := a.Run(t.Context(), "hi", nil)
		if err != nil || out.Reason != reason {
			t.Fatalf("turn %d of another row: %+v, %v; want reason %q", i+1, out, err, reason)
		}
	}

	// So does a refusal: the model was there.
	model = turn.NewScripted(bad, bad, fails(turn.ErrorGuardrail), bad, bad, bad)
	a = newAgent(t, model, turn.Options{Fallback: cloud})
	for i, reason := range []turn.Reason{turn.ReasonModelError, turn.ReasonModelError, "", turn.ReasonModelError, turn.ReasonModelError, turn.ReasonModelError, turn.ReasonSession} {
		out, err := a.Run(t.Context(), "hi", nil)
		if err != nil || out.Reason != reason || out.Refused != (i == 2) {
			t.Fatalf("turn %d around a refusal: %+v, %v; want reason %q", i+1, out, err, reason)
		}
	}

	model = turn.NewScripted(bad, bad, bad, bad)
	a = newAgent(t, model, turn.Options{})
	for range 4 {
		if out, err := a.Run(t.Context(), "hi", nil); err != nil || out.Reason != turn.ReasonModelError {
			t.Errorf("without a fallback: %+v, %v", out, err)
		}
	}
}
