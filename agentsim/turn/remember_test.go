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

func TestFactoryIsCalledOncePerConversation(t *testing.T) {
	var made []string
	opts := turn.Options{MemoryFor: func(_ context.Context, id string, isDefault bool) (memory.Memory, error) {
		made = append(made, fmt.Sprintf("%q %t", id, isDefault))
		return &memory.InProcess{}, nil
	}}
	a := newAgent(t, always("ok"), opts)
	for _, conversation := range []string{"", "work", "default", "", "work"} {
		if _, err := a.Run(t.Context(), "hi", &turn.RunOptions{Conversation: conversation}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{`"" true`, `"work" false`, `"default" false`}, made); diff != "" {
		t.Errorf("the factory made (-want +got):\n%s", diff)
	}
}

func TestSingleMemoryServesTheDefaultConversationOnly(t *testing.T) {
	opts := turn.Options{Memory: &memory.InProcess{}}
	a := newAgent(t, always("ok"), opts)
	if _, err := a.Run(t.Context(), "hi", nil); err != nil {
		t.Error(err)
	}
	if _, err := a.Run(t.Context(), "hi", &turn.RunOptions{Conversation: "work"}); err == nil || !strings.Contains(err.Error(), "MemoryFor") {
		t.Errorf("a named conversation shared the memory: %v", err)
	}
	opts.MemoryFor = memory.KeyValues(nil, "")
	if _, err := turn.New(always("ok"), opts); err == nil {
		t.Error("New took two kinds of memory")
	}
}

func TestDefaultMemoryIsApartFromNamedOnes(t *testing.T) {
	model := turn.NewScripted(text("1"), text("2"), text("3"))
	a := newAgent(t, model, turn.Options{})
	for _, conversation := range []string{"", "work", ""} {
		if _, err := a.Run(t.Context(), "ask in "+conversation, &turn.RunOptions{Conversation: conversation}); err != nil {
			t.Fatal(err)
		}
	}
	calls := model.Calls()
	if p := calls[1].Request.Prompt(); strings.Contains(p, "Earlier") {
		t.Errorf("the named conversation remembers the default one:\n%s", p)
	}
	if p := calls[2].Request.Prompt(); !strings.Contains(p, "Person: ask in\nAssistant: 1\n") || strings.Contains(p, "work") {
		t.Errorf("the default conversation remembers something else:\n%s", p)
	}
}

// faulty is a memory that fails as told.
type faulty struct {
	memory.InProcess
	load    error
	save    []error
	loads   int
	damaged error
}

func (m *faulty) Load(ctx context.Context) (memory.Loaded, error) {
	m.loads++
	l, err := m.InProcess.Load(ctx)
	l.Damaged = m.damaged
	return l, errors.Join(err, m.load)
}

func (m *faulty) Save(ctx context.Context, s memory.State, on memory.Version) error {
	if len(m.save) > 0 {
		err := m.save[0]
		m.save = m.save[1:]
		return err
	}
	return m.InProcess.Save(ctx, s, on)
}

func TestMemoryFailuresNeverLoseTheAnswer(t *testing.T) {
	disk := errors.New("disk full")
	for name, tt := range map[string]struct {
		m      *faulty
		events string
		saved  bool
	}{
		"load fails":            {&faulty{load: disk}, "load", false},
		"save fails":            {&faulty{save: []error{disk}}, "save", false},
		"damaged":               {&faulty{damaged: errors.New("cut off")}, "damaged", true},
		"conflict, then a save": {&faulty{save: []error{memory.ErrConflict, memory.ErrConflict}}, "", true},
		"conflicts only":        {&faulty{save: []error{memory.ErrConflict, memory.ErrConflict, memory.ErrConflict}}, "save", false},
	} {
		var ev events
		out, _ := run(t, turn.Options{Memory: tt.m, OnEvent: ev.on}, text("the answer"))
		l, err := tt.m.InProcess.Load(t.Context())
		if err != nil || out.Answer != "the answer" || ev.labels(turn.EventMemoryError) != tt.events || (l.Version != "") != tt.saved {
			t.Errorf("%s: answer %q, events %q, saved %q", name, out.Answer, ev.labels(turn.EventMemoryError), l.Version)
		}
		if len(ev.of(turn.EventRemembered)) == 1 != tt.saved {
			t.Errorf("%s: %d remembered events", name, len(ev.of(turn.EventRemembered)))
		}
	}
}

// A save that lost a race is built again on what the winner stored.
func TestConflictIsBuiltOnTheOtherState(t *testing.T) {
	m := &memory.InProcess{}
	other := turn.Hooks{AfterAnswer: func(ctx context.Context, _ turn.RunInfo, a string) (string, error) {
		l, err := m.Load(ctx)
		if err != nil {
			return a, err
		}
		next, _ := l.State.With(memory.Exchange{Ask: "other", Answer: "other"})
		return a, m.Save(ctx, next, l.Version)
	}}
	run(t, turn.Options{Memory: m, Hooks: []turn.Hooks{other}}, text("mine"))
	l, err := m.Load(t.Context())
	if err != nil || len(l.State.Recent) != 2 || l.State.Recent[0].Answer != "other" || l.State.Recent[1].Answer != "mine" {
		t.Errorf("the memory is %+v, %v", l.State, err)
	}
}

// The scribe is asked only when an exchange falls off, and its failure keeps
// the old summary and the last three exchanges.
func TestScribe(t *testing.T) {
	full := memory.State{Summary: "old", Recent: []memory.Exchange{{Ask: "1", Answer: "a"}, {Ask: "2", Answer: "b"}, {Ask: "3", Answer: "c"}}}
	for name, tt := range map[string]struct {
		reply   turn.ScriptedReply
		summary string
		events  string
	}{
		"text":      {text(" Goal: new \n"), "Goal: new", ""},
		"too long":  {text(strings.Repeat("word ", 2000)), "", ""},
		"empty":     {text(""), "old", "scribe"},
		"json":      {js(`{}`), "old", "scribe"},
		"provider":  {fails(turn.ErrorProvider), "old", "scribe"},
		"guardrail": {fails(turn.ErrorGuardrail), "old", "scribe"},
	} {
		m := &memory.InProcess{}
		if err := m.Save(t.Context(), full, ""); err != nil {
			t.Fatal(err)
		}
		var ev events
		out, calls := run(t, turn.Options{Memory: m, OnEvent: ev.on}, text("d"), tt.reply)
		l, err := m.Load(t.Context())
		if err != nil || out.Answer != "d" || len(l.State.Recent) != 3 || l.State.Recent[0].Ask != "2" || ev.labels(turn.EventMemoryError) != tt.events {
			t.Errorf("%s: %+v, events %q, %v", name, l.State, ev.labels(turn.EventMemoryError), err)
		}
		if tt.summary != "" && l.State.Summary != tt.summary || !strings.HasSuffix(l.State.Summary, "…") == (name == "too long") {
			t.Errorf("%s: the summary is %q", name, l.State.Summary)
		}
		req := calls[1].Request
		if req.Stage != turn.StageScribe || req.MaxOutput != 192 || !strings.Contains(req.System, "60 words") || !strings.Contains(req.System, "never listed as pending") ||
			!strings.Contains(req.Prompt(), "Person: 1\nAssistant: a\n") || !strings.Contains(req.Prompt(), "Assistant: d\n") {
			t.Errorf("%s: the scribe was asked %s\n%s", name, req.System, req.Prompt())
		}
	}
}

// What is said long before takes at most an eighth of the window each, and both
// speakers are clipped rather than dropped.
func TestBackgroundIsBounded(t *testing.T) {
	m := &memory.InProcess{}
	long := strings.Repeat("word ", 3000)
	state := memory.State{Summary: long, Recent: []memory.Exchange{{Ask: "A " + long, Answer: "B " + long}, {Ask: "C " + long, Answer: "D " + long}, {Ask: "E", Answer: "F " + long}}}
	if err := m.Save(t.Context(), state, ""); err != nil {
		t.Fatal(err)
	}
	var ev events
	count := func(s string) int { return len(s) }
	_, calls := run(t, turn.Options{Memory: m, Window: 8000, CountTokens: count, OnEvent: ev.on}, text("ok"), text("Goal: x"))
	prompt := calls[0].Request.Prompt()
	notes, recent, found := strings.Cut(prompt, "\n\nEarlier exchanges:\n")
	recent, _, _ = strings.Cut(recent, "\nRequest:")
	notes = strings.TrimPrefix(notes, "Notes on the conversation:\n")
	if !found || len(notes) > 1000 || len(notes) < 990 || len(recent) > 1000 || len(recent) < 900 {
		t.Errorf("the notes take %d, the exchanges %d of 1000 tokens", len(notes), len(recent))
	}
	for _, speaker := range []string{"Person: A word", "Assistant: B wor", "Person: C word", "Assistant: D wor", "Person: E\n", "Assistant: F wor"} {
		if !strings.Contains(recent, speaker) {
			t.Errorf("%q was dropped from\n%s", speaker, recent)
		}
	}
}

// A hook's view may hold more than a memory does; the newest are shown.
func TestViewsOfManyExchanges(t *testing.T) {
	many := turn.Hooks{AfterRecall: func(_ context.Context, _ turn.RunInfo, s memory.State) (memory.State, error) {
		for i := range 40 {
			s.Recent = append(s.Recent, memory.Exchange{Ask: fmt.Sprintf("ask %d", i), Answer: strings.Repeat("word ", 20)})
		}
		return s, nil
	}}
	_, calls := run(t, turn.Options{Window: 2000, Hooks: []turn.Hooks{many}}, text("ok"))
	prompt := calls[0].Request.Prompt()
	if n := strings.Count(prompt, "Person: "); n < 4 || n > 20 || !strings.Contains(prompt, "Person: ask 39\n") || strings.Contains(prompt, "Person: ask 0\n") {
		t.Errorf("%d exchanges are shown in\n%s", n, prompt)
	}
}

func TestStepsAreRemembered(t *testing.T) {
	m := &memory.InProcess{}
	run(t, turn.Options{Memory: m, Functions: []turn.Function{echo}}, replies(js(planEcho), js(`{"text":"a"}`), answer("ok"))...)
	l, err := m.Load(t.Context())
	if err != nil || !cmp.Equal(l.State.Recent[0].Steps, []string{"echo (x): ok"}) || l.State.Recent[0].At.IsZero() {
		t.Errorf("the exchange is %+v, %v", l.State.Recent, err)
	}
}

// Once the answer is out, the end of ctx cannot take it back.
func TestCancelledWhileRemembering(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var ev events
	late := turn.Hooks{AfterAnswer: func(_ context.Context, _ turn.RunInfo, a string) (string, error) { cancel(); return a, nil }}
	out, err := newAgent(t, always("kept"), turn.Options{Hooks: []turn.Hooks{late}, OnEvent: ev.on}).Run(ctx, "hi", nil)
	if err != nil || out.Answer != "kept" || ev.labels(turn.EventMemoryError) != "save" {
		t.Errorf("%+v, %v, events %q", out, err, ev.labels(turn.EventMemoryError))
	}
}
