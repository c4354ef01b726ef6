package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs"
)

// damaged are values that are no state, from a file of no bytes to what a JSON
// decoder would repair without a word.
var damaged = map[string]string{
	"no bytes":            "",
	"blank":               " \n",
	"null":                "null",
	"a list":              "[]",
	"trailing text":       "[1] x",
	"cut off":             `{"summary":"a","recent":[{"ask":`,
	"text after":          `{} {}`,
	"summary a number":    `{"summary":1}`,
	"recent an object":    `{"recent":{}}`,
	"exchange a text":     `{"recent":["a"]}`,
	"exchange null":       `{"recent":[null]}`,
	"exchange half":       `{"recent":[{"ask":"a"}]}`,
	"stray byte":          "{\"summary\":\"a\xffb\"}",
	"lone high surrogate": `{"summary":"\ud800"}`,
	"lone low surrogate":  `{"summary":"\uDE00"}`,
	"nanoseconds":         `{"recent":[{"ask":"a","answer":"b","at":1767225600000000000}]}`,
	"before the years":    `{"recent":[{"ask":"a","answer":"b","at":-99999999999999}]}`,
	"raw NUL":             "{\"summary\":\"a\x00b\"}",
}

// sound are odd values that are a state.
var sound = map[string]string{
	"empty object":      `{}`,
	"null list":         `{"summary":"","recent":null}`,
	"pair":              `{"summary":"\ud83d\ude00"}`,
	"escaped backslash": `{"summary":"\\ud800"}`,
	"milliseconds":      `{"recent":[{"ask":"a","answer":"b","at":1767225600000}]}`,
	"the last of them":  `{"recent":[{"ask":"a","answer":"b","at":253402300799999}]}`,
	"unknown names":     `{"summary":"x","mood":1}`,
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
			for info, err := range vfs.Walk(t.Context(), b, "/") {
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
