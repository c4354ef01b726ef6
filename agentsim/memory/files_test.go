package memory_test

import (
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

// notText is a backend that holds bytes which are no text.
type notText struct{ vfs.Backend }

func (notText) Read(context.Context, string) (vfs.File, error) { return vfs.File{}, vfs.ErrNotText }

func (b notText) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	return vfs.Write(ctx, b.Backend, path, content, expected)
}

// Names of conversations that have collided or escaped elsewhere.
var ids = []string{
	"a", "A", "a+b/c", "a/b+c", "a/b", "a%2Fb", "..", ".", "../x", "x:y", "x_y", "_default", "default", "~", " a", "a ",
	"\u00dcbung", "U\u0308bung", "😀", "a\x00b", "a\nb", strings.Repeat("x", 600), strings.Repeat("x", 599), strings.Repeat("é", 600),
	"work.json", "work", "a\\b", "con", "null", `"a"`,
}

func TestConversationsNeverShare(t *testing.T) {
	backend := store(t, nil)
	factories := map[string]memory.Factory{
		"files":     filesIn(t, backend),
		"key-value": memory.KeyValues(&kv{values: map[string]string{}}, "m:"),
	}
	for name, factory := range factories {
		t.Run(name, func(t *testing.T) {
			for i, id := range append(ids, "") {
				m, err := factory(t.Context(), id, i == len(ids))
				if err != nil {
					t.Fatalf("%q: %v", id, err)
				}
				if l := load(t, m); l.Version != "" {
					t.Errorf("%q found the memory of another: %+v", id, l.State)
				}
				if err := m.Save(t.Context(), memory.State{Summary: "of " + id}, ""); err != nil {
					t.Fatalf("%q: %v", id, err)
				}
			}
		})
	}
	for info, err := range walk.Files(t.Context(), backend, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(info.Path, "/.memory/"); !ok || strings.Contains(rest, "/") {
			t.Errorf("a memory escaped to %s", info.Path)
		}
	}
	checkList(t, backend)
}

func checkList(t *testing.T, b vfs.Backend) {
	t.Helper()
	entries, err := memory.List(t.Context(), b, "")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		got[e.ID] = e.State.Summary
	}
	want := map[string]string{"": "of "}
	for _, id := range ids {
		want[id] = "of " + id
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for _, id := range append(ids, "") {
		e, err := memory.Show(t.Context(), b, "", id)
		if err != nil || e.State.Summary != "of "+id || e.IsDefault != (id == "") {
			t.Errorf("Show(%q) is %+v, %v", id, e, err)
		}
	}
}

func TestIllegalConversations(t *testing.T) {
	for name, factory := range map[string]memory.Factory{
		"files":     filesIn(t, store(t, nil)),
		"key-value": memory.KeyValues(&kv{}, ""),
	} {
		for _, id := range []string{"", " ", "\t\n", "a\xff"} {
			if _, err := factory(t.Context(), id, false); err == nil {
				t.Errorf("%s took the conversation %q", name, id)
			}
		}
		if _, err := factory(t.Context(), "x", true); err == nil {
			t.Errorf("%s took a name for the default conversation", name)
		}
	}
}

// A person edits the file between load and save: the edit stays.
func TestOutsideEditIsAConflict(t *testing.T) {
	b := store(t, nil)
	m := must(t, filesIn(t, b))
	if err := m.Save(t.Context(), memory.State{Summary: "first"}, ""); err != nil {
		t.Fatal(err)
	}
	l := load(t, m)
	const edited = `{"summary":"edited by hand","recent":[]}`
	if _, err := b.Write(t.Context(), "/.memory/work.json", edited, vfs.Revision(l.Version)); err != nil {
		t.Fatal(err)
	}
	l.State.Summary = "second"
	if err := m.Save(t.Context(), l.State, l.Version); !errors.Is(err, memory.ErrConflict) {
		t.Errorf("the save gave %v, want a conflict", err)
	}
	if got := load(t, m).State.Summary; got != "edited by hand" {
		t.Errorf("the memory is %q", got)
	}
}

func TestFilesArePrettyJSON(t *testing.T) {
	b := store(t, nil)
	m := must(t, filesIn(t, b))
	if err := m.Save(t.Context(), memory.State{Summary: "a <b>"}, ""); err != nil {
		t.Fatal(err)
	}
	f, err := b.Read(t.Context(), "/.memory/work.json")
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"conversation\": \"work\",\n  \"summary\": \"a <b>\",\n  \"recent\": []\n}\n"
	if f.Content != want || !json.Valid([]byte(f.Content)) {
		t.Errorf("the file is\n%s", f.Content)
	}
}

// The names of files stay as they are, for memories that are there already and
// for people who look at them.
func TestNamesOfFiles(t *testing.T) {
	b := store(t, nil)
	for id, want := range map[string]string{
		"garden-2026":            "garden-2026",
		"Plan 9_b":               "%50lan%209%5Fb",
		"../é":                   "%2E%2E%2F%C3%A9",
		"_default":               "%5Fdefault",
		strings.Repeat("a", 160): strings.Repeat("a", 160),
		strings.Repeat("a", 161): "~1668eb4fad53ba7b37b233bcb819f4a0c38ee2a6d03e204134edcc882bb56ae8",
	} {
		m, err := filesIn(t, b)(t.Context(), id, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Save(t.Context(), memory.State{}, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(t.Context(), "/.memory/"+want+".json"); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
	}
}

// A file that no conversation has is not listed, or one would show twice.
func TestFilesOfNoConversation(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"%61", "%20", "%ff", "%4", "%zz", "A", "_x", "", "~00", "a.damaged-00000000"} {
		files["/.memory/"+name+".json"] = "{}"
	}
	files["/.memory/a.json.damaged-00000000"], files["/.memory/sub/a.json"], files["/.memory/a.json"] = "{", "{}", "{}"
	entries, err := memory.List(t.Context(), store(t, files), "")
	if err != nil || len(entries) != 1 || entries[0].ID != "a" || entries[0].Path != "/.memory/a.json" {
		t.Errorf("listed are %+v, %v", entries, err)
	}
}

func TestFilesStayOutsideTheAgentsRoot(t *testing.T) {
	b := store(t, nil)
	for _, tt := range []struct {
		opts memory.FilesOptions
		ok   bool
	}{
		{memory.FilesOptions{}, false},
		{memory.FilesOptions{ShowToAgents: true}, true},
		{memory.FilesOptions{AgentRoots: []string{}}, true},
		{memory.FilesOptions{AgentRoots: []string{"/"}}, false},
		{memory.FilesOptions{AgentRoots: []string{"/"}, ShowToAgents: true}, true},
		{memory.FilesOptions{AgentRoots: []string{"/work"}}, true},
		{memory.FilesOptions{Dir: "/work/memory", AgentRoots: []string{"/work/"}}, false},
		{memory.FilesOptions{Dir: "/work/memory", AgentRoots: []string{"/other", "/work"}}, false},
		{memory.FilesOptions{AgentRoots: []string{""}, ShowToAgents: true}, false},
		{memory.FilesOptions{Dir: "/work2", AgentRoots: []string{"/work"}}, true},
		{memory.FilesOptions{Dir: "relative", ShowToAgents: true}, false},
		{memory.FilesOptions{Dir: "/" + strings.Repeat("x", 400), ShowToAgents: true}, false},
	} {
		if _, err := memory.Files(b, &tt.opts); (err == nil) != tt.ok {
			t.Errorf("%+v gave %v", tt.opts, err)
		}
	}
}

func TestShowAndListErrors(t *testing.T) {
	b := store(t, map[string]string{"/.memory/UPPER.json": "{}", "/.memory/x.txt": "", "/.memory/d/e.json": "{}", "/.memory/~12.json": "", "/.memory/%zz.json": "{}"})
	if _, err := memory.Show(t.Context(), b, "", "nobody"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("Show of nobody gave %v", err)
	}
	if _, err := memory.Show(t.Context(), b, "", " "); err == nil {
		t.Error("Show took a blank name")
	}
	if entries, err := memory.List(t.Context(), b, ""); err != nil || len(entries) != 0 {
		t.Errorf("List found %v, %v among other files", entries, err)
	}
}
