package agenttool_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// outputs calls every tool once and returns what each gave.
func outputs(t *testing.T) map[string]agenttool.Output {
	t.Helper()
	b := faulty{teststore.Memory(t, map[string]string{"/a": "1\n2\n", "/b": "1\n", "/x": ""}), func(path string) (vfs.File, error, bool) {
		return vfs.File{}, vfs.ErrNotText, path == "/x"
	}}
	writable := teststore.Memory(t, nil)
	w, err := run[*agenttool.WriteOutput](t, toolset(t, agenttool.Options{Backend: writable, Writable: true}), "writeFile", args{"path": "/n", "content": "old"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]agenttool.Output{"writeFile": w}
	for _, c := range []struct {
		tool string
		b    vfs.Backend
		in   args
	}{
		{"glob", b, args{"pattern": "/*"}}, {"grep", b, args{"pattern": "1"}}, {"readFile", b, args{"path": "/a", "limit": 1}},
		{"editFile", writable, args{"path": "/n", "revision": w.Revision, "oldText": "old", "newText": "new"}}, {"deleteFile", writable, args{"path": "/n"}},
	} {
		if c.tool == "deleteFile" {
			c.in["revision"] = all["editFile"].Files()[0].Revision
		}
		tools := toolset(t, agenttool.Options{Backend: c.b, Writable: true, MaxMatches: 1})
		if all[c.tool], err = run[agenttool.Output](t, tools, c.tool, c.in); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What a tool gives is what its schema says: every member of it is known and those
// that are required are there.
func TestOutputSchemas(t *testing.T) {
	all := outputs(t)
	for _, tool := range agenttool.All() {
		var schema struct {
			Properties map[string]struct {
				Items struct{ Properties map[string]any }
			}
			Required []string
		}
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		data, err := json.Marshal(all[tool.Name])
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		for _, name := range schema.Required {
			if _, there := got[name]; !there {
				t.Errorf("%s gives no %s: %s", tool.Name, name, data)
			}
		}
		known := slices.Sorted(maps.Keys(schema.Properties))
		for name, value := range got {
			if !slices.Contains(known, name) {
				t.Errorf("%s gives %s, which its schema does not know", tool.Name, name)
			}
			items, _ := value.([]any)
			for _, item := range items {
				if members, ok := item.(map[string]any); ok && !cmp.Equal(slices.Sorted(maps.Keys(members)), slices.Sorted(maps.Keys(schema.Properties[name].Items.Properties))) {
					t.Errorf("%s gives %v in %s", tool.Name, members, name)
				}
			}
		}
	}
}

// A copy is equal, and a change of it is not seen in the output.
func TestOutputsClone(t *testing.T) {
	for tool, out := range outputs(t) {
		before, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		c := out.Clone()
		if diff := cmp.Diff(out, c); diff != "" {
			t.Errorf("%s: -output +copy\n%s", tool, diff)
		}
		switch c := c.(type) {
		case *agenttool.GlobOutput:
			c.Matches[0].Path, *c.NextCursor = "spoiled", "spoiled"
		case *agenttool.GrepOutput:
			c.Matches[0].Path, *c.NextCursor = "spoiled", "spoiled"
			c.Skipped = append(c.Skipped[:0], "spoiled")
		case *agenttool.ReadOutput:
			c.Content, *c.NextCursor = "spoiled", "spoiled"
		case *agenttool.WriteOutput:
			c.Path = "spoiled"
		case *agenttool.DeleteOutput:
			c.Path = "spoiled"
		}
		if after, err := json.Marshal(out); err != nil || string(after) != string(before) {
			t.Errorf("%s: %s became %s, %v", tool, before, after, err)
		}
	}
}

// Files are those whose revision is shown.
func TestOutputFiles(t *testing.T) {
	want := map[string]int{"glob": 1, "grep": 1, "readFile": 1, "writeFile": 1, "editFile": 1, "deleteFile": 0}
	for tool, out := range outputs(t) {
		files := out.Files()
		if len(files) != want[tool] || len(files) > 0 && (files[0].Path == "" || files[0].Revision == "") {
			t.Errorf("%s shows %v", tool, files)
		}
	}
}

// The text of a search is its output as JSON, in which nothing is escaped that need
// not be.
func TestTextIsTheOutput(t *testing.T) {
	content := "hit \u2028\u2029 <&> é😀\x7f"
	for c := range 0x80 {
		if c != '\n' {
			content += string(rune(c))
		}
	}
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/<é>\u2028": content[len(content)-100:], "/a": content}), MaxTokens: 100000})
	for tool, in := range map[string]args{"grep": {"pattern": "hit"}, "glob": {"pattern": "/**"}} {
		res, err := runAs(t.Context(), tools, agenttool.Scope{}, tool, in)
		if err != nil {
			t.Fatal(err)
		}
		again := res.Output.Clone()
		if err := json.Unmarshal([]byte(res.Text), again); err != nil {
			t.Fatalf("%s: %v in %q", tool, err, res.Text)
		}
		if diff := cmp.Diff(res.Output, again); diff != "" {
			t.Errorf("%s: -output +text\n%s", tool, diff)
		}
	}
	res, err := runAs(t.Context(), tools, agenttool.Scope{}, "grep", args{"pattern": "hit", "path": "/a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"\u2028\u2029 <&> é😀\x7f", `\u0000\u0001`, `\b\t\u000b\f\r\u000e`, `!\"#`} {
		if !strings.Contains(res.Text, raw) {
			t.Errorf("the text has no %q: %q", raw, res.Text)
		}
	}
}
