package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// damaged are values that are no state, from a file of no bytes to what a JSON
// decoder would repair without a word.
var damaged = map[string]string{
	"no bytes":             "",
	"blank":                " \n",
	"null":                 "null",
	"a list":               "[]",
	"trailing text":        "[1] x",
	"cut off":              `{"summary":"a","recent":[{"ask":`,
	"text after":           `{"summary":"","recent":[]} {}`,
	"summary a number":     `{"summary":1,"recent":[]}`,
	"recent an object":     `{"summary":"","recent":{}}`,
	"exchange a text":      `{"summary":"","recent":["a"]}`,
	"exchange null":        `{"summary":"","recent":[null]}`,
	"exchange half":        `{"summary":"","recent":[{"ask":"a"}]}`,
	"stray byte":           "{\"summary\":\"a\xffb\",\"recent\":[]}",
	"lone high surrogate":  `{"summary":"\ud800","recent":[]}`,
	"lone low surrogate":   `{"summary":"\uDE00","recent":[]}`,
	"nanoseconds":          `{"summary":"","recent":[{"ask":"a","answer":"b","at":1767225600000000000}]}`,
	"before the years":     `{"summary":"","recent":[{"ask":"a","answer":"b","at":-99999999999999}]}`,
	"another form":         `{"messages":[{"role":"user","content":"remember me"}]}`,
	"a later version":      `{"version":2,"state":{"summary":"a","recent":[]}}`,
	"empty object":         `{}`,
	"no list":              `{"summary":"a"}`,
	"no summary":           `{"recent":[]}`,
	"summary null":         `{"summary":null,"recent":[]}`,
	"other case":           `{"Summary":"a","Recent":[]}`,
	"other case of an ask": `{"summary":"","recent":[{"Ask":"a","answer":"b"}]}`,
	"twice":                `{"summary":"a","summary":"b","recent":[]}`,
	"unknown twice":        `{"summary":"a","x":1,"recent":[],"x":2}`,
	"twice in an exchange": `{"summary":"a","recent":[{"ask":"a","ask":"b","answer":"c"}]}`,
	"raw NUL":              "{\"summary\":\"a\x00b\",\"recent\":[]}",
}

// sound are odd values that are a state.
var sound = map[string]string{
	"null list":         `{"summary":"","recent":null}`,
	"pair":              `{"summary":"\ud83d\ude00","recent":[]}`,
	"escaped backslash": `{"summary":"\\ud800","recent":[]}`,
	"milliseconds":      `{"summary":"","recent":[{"ask":"a","answer":"b","at":1767225600000}]}`,
	"the last of them":  `{"summary":"","recent":[{"ask":"a","answer":"b","at":253402300799999}]}`,
	"unknown names":     `{"summary":"x","mood":1,"recent":[]}`,
}

func TestDamagedKeyValue(t *testing.T) {
	for name, raw := range damaged {
		t.Run(name, func(t *testing.T) {
			s := &kv{values: map[string]string{"k": raw}}
			m := memory.NewKeyValue(s, "k")
			l := checkDamaged(t, m)
			if len(s.values) != 1 || s.values["k"] != raw {
				t.Errorf("looking at it changed the store to %q", s.values)
			}
			saveOver(t, m, l)
			if kept := asideOf(s.values, "k"); kept != raw {
				t.Errorf("kept aside is %q, want %q", kept, raw)
			}
		})
	}
}

func TestDamagedFile(t *testing.T) {
	for name, raw := range damaged {
		t.Run(name, func(t *testing.T) {
			if strings.ContainsRune(raw, '\uFFFD') {
				t.Skip("no file of this backend holds bytes that are not text")
			}
			b := store(t, map[string]string{"/.memory/work.json": raw})
			m := must(t, filesIn(t, b))
			l := checkDamaged(t, m)
			saveOver(t, m, l)
			values := map[string]string{}
			for info, err := range walk.Files(t.Context(), b, "/") {
				if err != nil {
					t.Fatal(err)
				}
				f, err := b.Read(t.Context(), info.Path)
				if err != nil {
					t.Fatal(err)
				}
				values[info.Path] = f.Content
			}
			if kept := asideOf(values, "/.memory/work.json"); kept != raw {
				t.Errorf("kept aside is %q, want %q", kept, raw)
			}
		})
	}
}

func checkDamaged(t *testing.T, m memory.Memory) memory.Loaded {
	t.Helper()
	l := load(t, m)
	if l.Damaged == nil || l.State.Summary != "" || l.State.Recent == nil || len(l.State.Recent) != 0 {
		t.Errorf("read as %+v, want empty and damaged", l)
	}
	return l
}

func saveOver(t *testing.T, m memory.Memory, l memory.Loaded) {
	t.Helper()
	if err := m.Save(t.Context(), memory.State{Summary: "new"}, l.Version); err != nil {
		t.Fatal(err)
	}
	if got := load(t, m); got.Damaged != nil || got.State.Summary != "new" {
		t.Errorf("after the save it reads %+v", got)
	}
}

func asideOf(values map[string]string, key string) string {
	for k, v := range values {
		if strings.HasPrefix(k, key+".damaged-") {
			return v
		}
	}
	return "nothing"
}

func TestSound(t *testing.T) {
	for name, raw := range sound {
		m := memory.NewKeyValue(&kv{values: map[string]string{"k": raw}}, "k")
		if l := load(t, m); l.Damaged != nil || l.State.Recent == nil {
			t.Errorf("%s: read as %+v", name, l)
		}
	}
}

// Members that are not known here, of the whole and of each exchange, survive
// saves for as long as what they belong to.
func TestUnknownMembersSurvive(t *testing.T) {
	const raw = `{"mood": {"b":1,"a":[2.50]},"summary":"old","recent":[{"id":7,"ask":"a","answer":"b"},{"ask":"c","answer":"d","by":"<x>"}],"Summary":"mine"}`
	s := &kv{values: map[string]string{"k": raw}}
	b := store(t, map[string]string{"/.memory/work.json": raw})
	for name, m := range map[string]memory.Memory{"key-value": memory.NewKeyValue(s, "k"), "files": must(t, filesIn(t, b))} {
		l := load(t, m)
		if l.Damaged != nil {
			t.Fatal(l.Damaged)
		}
		next, _ := l.State.With(memory.Exchange{Ask: "e", Answer: "f"})
		next.Recent, next.Summary = next.Recent[1:], "new" // the first falls off
		if err := m.Save(t.Context(), next, l.Version); err != nil {
			t.Fatal(err)
		}
		got := s.values["k"]
		if name == "files" {
			f, err := b.Read(t.Context(), "/.memory/work.json")
			if err != nil {
				t.Fatal(err)
			}
			got = f.Content
		}
		want := `{"summary":"new","recent":[{"ask":"c","answer":"d","by":"<x>"},{"ask":"e","answer":"f"}],"mood":{"b":1,"a":[2.50]},"Summary":"mine"}`
		if name == "files" {
			want = `{"conversation":"work",` + want[1:]
		}
		var compacted bytes.Buffer
		if err := json.Compact(&compacted, []byte(got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, compacted.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A file with bytes that are no text cannot be copied through a backend, so it
// must stay where it is.
func TestDamagedFileThatIsNoText(t *testing.T) {
	b := &notText{Backend: store(t, map[string]string{"/.memory/work.json": "x"})}
	m := must(t, filesIn(t, b))
	l := checkDamaged(t, m)
	err := m.Save(t.Context(), memory.State{}, l.Version)
	if err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a save over it gave %v", err)
	}
}

// brokenKV cannot set some keys.
type brokenKV struct {
	kv
	fails func(key string) bool
}

func (s *brokenKV) Set(ctx context.Context, key, value string) error {
	if s.fails(key) {
		return errors.New("disk full")
	}
	return s.kv.Set(ctx, key, value)
}

// A damaged value that cannot be kept aside is not overwritten.
func TestDamagedValueStaysWhereItIsNotKept(t *testing.T) {
	s := &brokenKV{kv{values: map[string]string{"k": "{"}}, func(key string) bool { return key != "k" }}
	m := memory.NewKeyValue(s, "k")
	l := checkDamaged(t, m)
	if err := m.Save(t.Context(), memory.State{}, l.Version); err == nil || s.values["k"] != "{" {
		t.Errorf("the save gave %v and left %q", err, s.values)
	}
	s.fails = func(key string) bool { return key == "k" }
	if err := m.Save(t.Context(), memory.State{}, l.Version); err == nil || s.values["k"] != "{" || asideOf(s.values, "k") != "{" {
		t.Errorf("a failed save gave %v and left %q", err, s.values)
	}

	b := store(t, map[string]string{"/.memory/work.json": "{"})
	l = checkDamaged(t, must(t, filesIn(t, b)))
	err := must(t, filesIn(t, readOnlyAside{b})).Save(t.Context(), memory.State{}, l.Version)
	if f, _ := b.Read(t.Context(), "/.memory/work.json"); err == nil || f.Content != "{" {
		t.Errorf("the save gave %v and left %q", err, f.Content)
	}
}

// A save that lost leaves everything as it was, also what is damaged by now.
func TestLostSaveKeepsNothingAside(t *testing.T) {
	b := store(t, nil)
	m := must(t, filesIn(t, b))
	l := load(t, m)
	if _, err := b.Write(t.Context(), "/.memory/work.json", "{", ""); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(t.Context(), memory.State{}, l.Version); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("the save gave %v", err)
	}
	for info := range walk.Files(t.Context(), b, "/") {
		if info.Path != "/.memory/work.json" {
			t.Errorf("it left %s", info.Path)
		}
	}
}

// readOnlyAside is a backend that takes nothing new.
type readOnlyAside struct{ vfs.Backend }

func (b readOnlyAside) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if expected == "" {
		return vfs.Info{}, vfs.ErrReadOnly
	}
	return vfs.Write(ctx, b.Backend, path, content, expected)
}

func FuzzDecode(f *testing.F) {
	for _, raw := range damaged {
		f.Add(raw)
	}
	for _, raw := range sound {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		s := &kv{values: map[string]string{"k": raw}}
		m := memory.NewKeyValue(s, "k")
		l := load(t, m)
		if l.State.Recent == nil {
			t.Fatal("the list is nil")
		}
		if err := m.Save(t.Context(), l.State, l.Version); err != nil {
			t.Fatal(err)
		}
		if again := load(t, m); again.Damaged != nil {
			t.Fatalf("%q was saved as %q, which is damaged: %v", raw, s.values["k"], again.Damaged)
		}
	})
}
