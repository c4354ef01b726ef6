package memory_test

import (
	"context"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// kept is a store of which all keys can be seen.
type kept map[string]string

func (k kept) Get(_ context.Context, key string) (string, bool, error) {
	value, ok := k[key]
	return value, ok, nil
}

func (k kept) Set(_ context.Context, key, value string) error {
	k[key] = value
	return nil
}

// TestFindValue: what KeyValues saves is found again with its conversation, under
// every prefix.
func TestFindValue(t *testing.T) {
	for _, prefix := range []string{"", "goliath:", `a"b"`, "null", "é/"} {
		for _, id := range []string{"", "garden", `say "hi"`, "null", "a\nb", "<é>"} {
			store := kept{}
			m, err := memory.KeyValues(store, prefix)(t.Context(), id, id == "")
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Save(t.Context(), memory.State{Summary: "Goal: water."}, ""); err != nil {
				t.Fatal(err)
			}
			for key, value := range store {
				e, found, ok := memory.FindValue(key, value)
				if !ok || found != prefix || e.ID != id || e.IsDefault != (id == "") || e.State.Summary != "Goal: water." || e.Path != key {
					t.Errorf("%q of prefix %q is found as %+v, prefix %q, %v", key, prefix, e, found, ok)
				}
				if e, ok := memory.ValueEntry(key, "{}", prefix); !ok || e.Damaged == nil {
					t.Errorf("a damaged value of %q is %+v, %v", key, e, ok)
				}
			}
		}
	}
}

// TestFindValueRefuses: what an app keeps beside its memories is none.
func TestFindValueRefuses(t *testing.T) {
	const state = `{"summary":"","recent":[]}`
	for _, c := range []struct{ key, value string }{
		{"theme", state}, {`x:"garden"`, `{"theme":"dark"}`}, {`x:"garden"`, "dark"}, {`x:"garden" `, state}, {`x:""`, state},
		{`x:"\u0061"`, state}, {"x:nullx", state}, {`x:"`, state}, {"", state},
	} {
		if e, prefix, ok := memory.FindValue(c.key, c.value); ok {
			t.Errorf("%q with %s is taken for %+v, prefix %q", c.key, c.value, e, prefix)
		}
	}
}
