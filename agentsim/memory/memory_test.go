package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// kv is a Store in memory.
type kv struct {
	mu     sync.Mutex
	values map[string]string
}

func (s *kv) Get(_ context.Context, key string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	return v, ok, nil
}

func (s *kv) Set(_ context.Context, key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

// swapKV is a kv whose check and set are one step.
type swapKV struct{ kv }

func (s *swapKV) Swap(_ context.Context, key, old string, exists bool, value string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.values[key]; ok != exists || v != old {
		return false, nil
	}
	s.values[key] = value
	return true, nil
}

func store(t *testing.T, files map[string]string) *memfs.FS {
	t.Helper()
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func filesIn(t *testing.T, b vfs.Backend) memory.Factory {
	t.Helper()
	factory, err := memory.Files(b, &memory.FilesOptions{AgentRoots: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return factory
}

// open returns, for each adapter, a function that opens the same memory again.
func open(t *testing.T) map[string]func() memory.Memory {
	t.Helper()
	values := memory.KeyValues(&kv{values: map[string]string{}}, "m:")
	swapped := memory.KeyValues(&swapKV{kv{values: map[string]string{}}}, "m:")
	files := filesIn(t, store(t, nil))
	inProcess, keyValue := &memory.InProcess{}, must(t, values)
	return map[string]func() memory.Memory{
		"in process":         func() memory.Memory { return inProcess },
		"key-value":          func() memory.Memory { return keyValue },
		"key-value swapping": func() memory.Memory { return must(t, swapped) },
		"files":              func() memory.Memory { return must(t, files) },
	}
}

func must(t *testing.T, factory memory.Factory) memory.Memory {
	t.Helper()
	m, err := factory(t.Context(), "work", false)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func load(t *testing.T, m memory.Memory) memory.Loaded {
	t.Helper()
	l, err := m.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSaveAndLoad(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := memory.State{Summary: "Goal: <docs> & \"tests\"\n\u2028😀", Recent: []memory.Exchange{
		{Ask: "a", Answer: "b", At: at, Steps: []string{"grep: find it"}}, {Ask: "c", Answer: "\x00"},
	}}
	for name, reopen := range open(t) {
		t.Run(name, func(t *testing.T) {
			first := load(t, reopen())
			if diff := cmp.Diff(memory.Loaded{State: memory.State{Recent: []memory.Exchange{}}}, first); diff != "" {
				t.Errorf("nothing saved yet (-want +got):\n%s", diff)
			}
			if err := reopen().Save(t.Context(), want, first.Version); err != nil {
				t.Fatal(err)
			}
			got := load(t, reopen())
			if diff := cmp.Diff(want, got.State); diff != "" {
				t.Errorf("after a save (-want +got):\n%s", diff)
			}
			if got.Damaged != nil || got.Version == "" {
				t.Errorf("version %q, damaged %v", got.Version, got.Damaged)
			}
			if err := reopen().Save(t.Context(), want, first.Version); !errors.Is(err, memory.ErrConflict) {
				t.Errorf("a save on an old version gave %v, want a conflict", err)
			}
		})
	}
}

// What a caller does to a state it loaded or saved must not change the memory.
func TestInProcessKeepsCopies(t *testing.T) {
	m := &memory.InProcess{}
	s := memory.State{Recent: []memory.Exchange{{Ask: "a", Steps: []string{"x"}}}}
	if err := m.Save(t.Context(), s, ""); err != nil {
		t.Fatal(err)
	}
	s.Recent[0].Ask, s.Recent[0].Steps[0] = "changed", "changed"
	l := load(t, m)
	l.State.Recent[0].Ask = "changed"
	if got := load(t, m).State.Recent[0]; got.Ask != "a" || got.Steps[0] != "x" {
		t.Errorf("the memory became %+v", got)
	}
}

// Fifty savers race: each success is built on the state before it, and the
// others retry, so that all fifty are there in the end.
func TestRacingSavers(t *testing.T) {
	const savers = 50
	for name, reopen := range open(t) {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for i := range savers {
				wg.Go(func() {
					m := reopen()
					for {
						l, err := m.Load(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						l.State.Summary += fmt.Sprintf("[%d]", i)
						err = m.Save(t.Context(), l.State, l.Version)
						if err == nil {
							return
						}
						if !errors.Is(err, memory.ErrConflict) {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			got := load(t, reopen()).State.Summary
			for i := range savers {
				if n := strings.Count(got, fmt.Sprintf("[%d]", i)); n != 1 {
					t.Errorf("saver %d is there %d times", i, n)
				}
			}
		})
	}
}

func TestCanceledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &memory.InProcess{}
	if _, err := m.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Load gave %v", err)
	}
	if err := m.Save(ctx, memory.State{}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Save gave %v", err)
	}
}

func TestWith(t *testing.T) {
	var s memory.State
	for i := range 5 {
		var dropped []memory.Exchange
		s, dropped = s.With(memory.Exchange{Ask: fmt.Sprint(i)})
		if want := max(0, i-2); len(dropped) != min(1, want) {
			t.Errorf("exchange %d dropped %v", i, dropped)
		}
	}
	if got := []string{s.Recent[0].Ask, s.Recent[1].Ask, s.Recent[2].Ask}; !cmp.Equal(got, []string{"2", "3", "4"}) || len(s.Recent) != 3 {
		t.Errorf("kept %v", s.Recent)
	}
}

func TestLimited(t *testing.T) {
	for _, tt := range []struct {
		summary string
		tokens  int
		want    string
	}{
		{"short", 10, "short"},
		{"aaaaaaaaaaaaaaaaaaaa", 5, "aaaaaa…"}, // two tokens for the letters, three bytes for the mark
		{"漢字漢字", 9, "漢字…"},
		{"漢字", 2, ""},
		{"", 0, ""},
	} {
		got := memory.State{Summary: tt.summary}.Limited(tt.tokens)
		if got.Summary != tt.want {
			t.Errorf("%q in %d tokens became %q, want %q", tt.summary, tt.tokens, got.Summary, tt.want)
		}
	}
	long := strings.Repeat("漢字 and more ", 80_000) // a mebibyte is cut at once
	if got := (memory.State{Summary: long}).Limited(512).Summary; agenttool.EstimateTokens(got) != 512 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long summary became one of %d tokens", agenttool.EstimateTokens(got))
	}
	s := memory.State{Recent: make([]memory.Exchange, 7)}
	if got := len(s.Limited(1).Recent); got != memory.MaxRecent {
		t.Errorf("%d exchanges kept", got)
	}
}

// The phone cuts summaries at the same places.
func TestCutLikeThePhone(t *testing.T) {
	raw, err := os.ReadFile("testdata/clip.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text    string
		Budget  int
		Clipped string
	}
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if got := (memory.State{Summary: c.Text}).Limited(c.Budget).Summary; got != c.Clipped {
			t.Errorf("%.40q in %d tokens became %q, want %q", c.Text, c.Budget, got, c.Clipped)
		}
	}
}
