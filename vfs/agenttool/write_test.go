package agenttool_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

// edit runs editFile on a file that holds content, at its current revision, and
// returns the new content and the error.
func edit(t *testing.T, b vfs.Backend, content, old, new string) (string, error) {
	t.Helper()
	tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
	const path = "/edit me.txt"
	var before vfs.Revision
	if info, err := vfs.Stat(t.Context(), b, path); err == nil {
		before = info.Revision
	}
	info, err := vfs.Write(t.Context(), b, path, content, before)
	if err != nil {
		t.Fatal(err)
	}
	out, err := run[*agenttool.WriteOutput](t, tools, "editFile", args{"path": path, "revision": info.Revision, "oldText": old, "newText": new})
	f, readErr := vfs.Read(t.Context(), b, path)
	if readErr != nil {
		t.Fatal(readErr)
	}
	switch {
	case err != nil && (f.Revision != info.Revision || f.Content != content):
		t.Errorf("a refused edit changed the file to %q", f.Content)
	case err == nil && (f.Revision != out.Revision || f.Revision == info.Revision):
		t.Errorf("revision %s after the edit, result says %s, before %s", f.Revision, out.Revision, info.Revision)
	}
	return f.Content, err
}

func TestEdit(t *testing.T) {
	long := strings.Repeat("hit\n", 12)
	for name, b := range stores(t, nil) {
		for _, c := range []struct {
			name, content, old, new string
			want                    string // the content after
			code                    codes.Code
			says                    string
		}{
			{"plain", "one two", "two", "2", "one 2", "", ""},
			{"literal replacement", "a b", "b", `$1 \n $& \0`, `a $1 \n $& \0`, "", ""},
			{"delete text", "abc", "b", "", "ac", "", ""},
			{"CRLF as the file has it", "one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n", "", ""},
			{"CRLF file, LF asked", "one\r\ntwo\r\nthree\r\n", "one\ntwo", "1", "", codes.NoMatch, "line endings"},
			{"LF file, CRLF asked", "one\ntwo\n", "one\r\ntwo", "1", "", codes.NoMatch, "line endings"},
			{"trailing space", "one  \ntwo\n", "one\ntwo", "1", "", codes.NoMatch, "spaces at the end"},
			{"normalization", "caf\u00e9", "cafe\u0301", "x", "", codes.NoMatch, "accented"},
			{"several at once", "caf\u00e9  \r\nend", "cafe\u0301\nend", "x", "", codes.NoMatch, "copy the text from readFile"},
			{"absent", "abc", "xyz", "1", "", codes.NoMatch, "does not occur"},
			{"overlapping lines", "foo\nfoo\nfoo\n", "foo\nfoo\n", "x", "", codes.AmbiguousMatch, "2 times"},
			{"overlapping blank lines", "a\n\n\nb", "\n\n", "x", "", codes.AmbiguousMatch, "lines 1, 2"},
			{"overlapping letters", "aaa", "aa", "x", "", codes.AmbiguousMatch, "2 times in /edit me.txt, on line 1, so"},
			{"many", long, "hit", "x", "", codes.AmbiguousMatch, "more than 10 times"},
			{"empty", "abc", "", "X", "", codes.InvalidArgument, "oldText is empty"},
			{"empty file", "", "", "X", "", codes.InvalidArgument, "oldText is empty"},
			{"BOM stays", "\ufeffimport os\n", "import os\n", "import sys\n", "\ufeffimport sys\n", "", ""},
			{"prefix is content", "     1: foo", "     1: foo", "bar", "bar", "", ""},
			{"too large", "x", "x", strings.Repeat("y", 1<<20+1), "", codes.TooLarge, "split"},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				got, err := edit(t, b, c.content, c.old, c.new)
				if agenttool.CodeOf(err) != c.code {
					t.Fatalf("%v, want code %q", err, c.code)
				}
				if err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want it to say %q", err, c.says)
				}
				if err == nil && got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		}
	}
}

func TestWriteRules(t *testing.T) {
	for name, b := range stores(t, nil) {
		t.Run(name, func(t *testing.T) {
			tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
			text, code := call(t, tools, "writeFile", `{"path":"//n/","content":"v1"}`)
			info, err := vfs.Stat(t.Context(), b, "/n")
			if err != nil || code != "" || text != fmt.Sprintf(`{"path":"/n","revision":%q}`, info.Revision) {
				t.Fatalf("%s %s %v", text, code, err)
			}
			steps := []struct{ tool, input, code, says string }{
				{"writeFile", `{"path":"/n","content":"v2"}`, "conflict", "exists already"},
				{"writeFile", `{"path":"/n","content":"v2","revision":"wrong"}`, "conflict", "read it again"},
				{"writeFile", `{"path":"/m","content":"v2","revision":"wrong"}`, "conflict", "omit the revision"},
				{"editFile", `{"path":"/n","revision":"wrong","oldText":"v1","newText":"v2"}`, "conflict", "read it again"},
				{"editFile", `{"path":"/n","revision":"wrong","oldText":"absent","newText":"v2"}`, "conflict", "read it again"},
				{"editFile", `{"path":"/m","revision":"wrong","oldText":"v1","newText":"v2"}`, "not-found", "glob"},
				{"deleteFile", `{"path":"/n","revision":"wrong"}`, "conflict", "read it again"},
				{"deleteFile", `{"path":"/m","revision":"wrong"}`, "not-found", "glob"},
				{"writeFile", fmt.Sprintf(`{"path":"/n","content":"v2","revision":%q}`, info.Revision), "", ""},
			}
			for _, s := range steps {
				if msg, code := call(t, tools, s.tool, s.input); string(code) != s.code || !strings.Contains(msg, s.says) {
					t.Errorf("%s %s: %q %s", s.tool, s.input, code, msg)
				}
			}
			f, err := vfs.Read(t.Context(), b, "/n")
			if err != nil || f.Content != "v2" {
				t.Fatalf("%v %v", f, err)
			}
			if text, code := call(t, tools, "deleteFile", fmt.Sprintf(`{"path":"/n","revision":%q}`, f.Revision)); text != `{"path":"/n","deleted":true}` {
				t.Errorf("%s %s", text, code)
			}
		})
	}
}

// What cannot be changed says so first, whatever the revision.
func TestReadOnlyFirst(t *testing.T) {
	fixed, err := staticfs.New(map[string]string{"/a": "x"})
	if err != nil {
		t.Fatal(err)
	}
	routed, err := routefs.New(teststore.Memory(t, nil), []routefs.Route{{Prefix: "/docs", Backend: teststore.Memory(t, map[string]string{"/a": "x"}), ReadOnly: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string]vfs.Backend{"/a": fixed, "/docs/a": routed} {
		tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
		for tool, rest := range map[string]string{
			"writeFile": `"content":""`, "editFile": `"revision":"wrong","oldText":"x","newText":"y"`, "deleteFile": `"revision":"wrong"`,
		} {
			if msg, code := call(t, tools, tool, fmt.Sprintf(`{"path":%q,%s}`, path, rest)); code != codes.ReadOnly || !strings.Contains(msg, "another path") {
				t.Errorf("%s %s: %q %s", tool, path, code, msg)
			}
		}
	}
}

// away is a store that cannot be reached, as remotefs is while its agent is gone.
type away struct{ vfs.Backend }

var errAway = fmt.Errorf("%w: no agent answers", vfs.ErrUnavailable)

func (away) Route(context.Context, string) (vfs.Route, error)   { return vfs.Route{Prefix: "/"}, errAway }
func (away) Stat(context.Context, string) (vfs.Info, error)     { return vfs.Info{}, errAway }
func (away) Read(context.Context, string) (vfs.File, error)     { return vfs.File{}, errAway }
func (away) Remove(context.Context, string, vfs.Revision) error { return errAway }
func (away) Write(context.Context, string, string, vfs.Revision) (vfs.Info, error) {
	return vfs.Info{}, errAway
}

// A store that cannot be reached is not called read-only: the model would write
// to another path.
func TestStoreAway(t *testing.T) {
	routed, err := routefs.New(teststore.Memory(t, nil), []routefs.Route{{Prefix: "/shared", Backend: away{teststore.Memory(t, nil)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for path, b := range map[string]vfs.Backend{"/a": away{teststore.Memory(t, nil)}, "/shared/a": routed} {
		tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
		for tool, rest := range map[string]string{
			"writeFile": `"content":""`, "editFile": `"revision":"r","oldText":"x","newText":"y"`, "deleteFile": `"revision":"r"`,
		} {
			input := fmt.Sprintf(`{"path":%q,%s}`, path, rest)
			if msg, code := call(t, tools, tool, input); code != codes.Store || !strings.Contains(msg, errAway.Error()) {
				t.Errorf("%s %s: %q %s", tool, path, code, msg)
			}
			if _, err := tools.Call(ended, agenttool.Scope{}, tool, []byte(input)); agenttool.CodeOf(err) != codes.Canceled {
				t.Errorf("%s %s under an ended context: %v", tool, path, err)
			}
		}
	}
}

// A budget that cannot hold the result refuses before anything is written.
func TestWriteBudget(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/a": "x"})
	tools := toolset(t, agenttool.Options{Backend: b, Writable: true, MaxTokens: 5})
	for tool, input := range map[string]string{
		"writeFile": `{"path":"/n","content":"x"}`, "deleteFile": `{"path":"/a","revision":"r"}`,
	} {
		if msg, code := call(t, tools, tool, input); code != codes.BudgetTooSmall {
			t.Errorf("%s: %q %s", tool, code, msg)
		}
	}
	if page, err := b.List(t.Context(), "/", vfs.ListOptions{}); err != nil || len(page.Files) != 1 {
		t.Errorf("%v %v", page, err)
	}
}

// Of edits that race, each that reports success is in the file.
func TestRacingEdits(t *testing.T) {
	for name, b := range stores(t, nil) {
		t.Run(name, func(t *testing.T) {
			tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
			var lines strings.Builder
			for i := range 100 {
				fmt.Fprintf(&lines, "line %03d\n", i)
			}
			first, err := vfs.Write(t.Context(), b, "/race", lines.String(), "")
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var won []string
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					to := fmt.Sprintf("LINE %03d", i)
					_, err := run[*agenttool.WriteOutput](t, tools, "editFile", args{
						"path": "/race", "revision": first.Revision, "oldText": fmt.Sprintf("line %03d", i), "newText": to})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						won = append(won, to)
					} else if agenttool.CodeOf(err) != codes.Conflict {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			f, err := vfs.Read(t.Context(), b, "/race")
			if err != nil {
				t.Fatal(err)
			}
			if len(won) != 1 || strings.Count(f.Content, "LINE") != 1 || !strings.Contains(f.Content, won[0]) {
				t.Errorf("%d edits succeeded, %d are in the file", len(won), strings.Count(f.Content, "LINE"))
			}
		})
	}
}

// What readFile shows, written back, is the same file.
func TestRoundTripBytes(t *testing.T) {
	b := teststore.Memory(t, nil)
	tools := toolset(t, agenttool.Options{Backend: b, Writable: true})
	for i, content := range []string{"a\r\nb\r\n", "\ufeffx\r", "a\u2028b\u0085c\v\f\n", "", "\n", "no end", "tab\t\x00nul\x7f"} {
		info, err := vfs.Write(t.Context(), b, fmt.Sprintf("/%d", i), content, "")
		if err != nil {
			t.Fatal(err)
		}
		out, err := run[*agenttool.ReadOutput](t, tools, "readFile", args{"path": info.Path})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run[*agenttool.WriteOutput](t, tools, "writeFile", args{"path": info.Path, "content": out.Content, "revision": out.Revision}); err != nil {
			t.Fatal(err)
		}
		if f, err := vfs.Read(t.Context(), b, info.Path); err != nil || f.Content != content {
			t.Errorf("%q became %q (%v)", content, f.Content, err)
		}
	}
}
