package agenttool_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// readAll follows a read to the end and checks what holds for every page.
func readAll(t *testing.T, tools *agenttool.Toolset, path string, limit, budget int) []*agenttool.ReadOutput {
	t.Helper()
	pages, err := follow(t, tools, "readFile", map[string]any{"path": path, "limit": limit}, true)
	if err != nil {
		t.Fatalf("limit %d: %v", limit, err)
	}
	var outs []*agenttool.ReadOutput
	line, continued := 1, false
	for i, p := range pages {
		out := p.Output.(*agenttool.ReadOutput)
		outs = append(outs, out)
		if p.Tokens > budget {
			t.Errorf("page %d has %d tokens, budget %d", i, p.Tokens, budget)
		}
		if !utf8.ValidString(out.Content) {
			t.Errorf("page %d splits a character", i)
		}
		if out.Line != line || out.Continued != continued {
			t.Errorf("page %d starts at line %d continued %v, want %d %v", i, out.Line, out.Continued, line, continued)
		}
		if n := strings.Count(out.Content, "\n"); n > limit {
			t.Errorf("page %d has %d lines, limit %d", i, n, limit)
		}
		if out.Content == "" && len(pages) > 1 {
			t.Errorf("page %d is empty", i)
		}
		line += strings.Count(out.Content, "\n")
		continued = out.Content != "" && !strings.HasSuffix(out.Content, "\n")
	}
	return outs
}

func joined(outs []*agenttool.ReadOutput) string {
	var b strings.Builder
	for _, o := range outs {
		b.WriteString(o.Content)
	}
	return b.String()
}

// Pages joined are the file, at every limit and budget.
func TestReadPagesJoin(t *testing.T) {
	contents := map[string]string{
		"/lines":       "l1\nl2\nl3\n",
		"/blank":       "alpha\n\nomega\n",
		"/noend":       "a\nb\nc",
		"/crlf":        "a\r\nb\r\n\r\n",
		"/long":        strings.Repeat("x", 23000) + "\nEND\n",
		"/wide":        strings.Repeat("中文😀e\u0301", 700),
		"/mixed":       strings.Repeat("ab中\n", 300),
		"/one":         "x",
		"/separators":  "a\n\f\nb\u2028c\u0085d\v\nTARGET\n",
		"/only breaks": strings.Repeat("\n", 500),
	}
	for k := range 8 { // every alignment of a cut
		contents[fmt.Sprintf("/align%d", k)] = strings.Repeat("a", k) + strings.Repeat("中文😀e\u0301", 400)
	}
	for name, b := range stores(t, contents) {
		t.Run(name, func(t *testing.T) {
			for _, budget := range []int{45, 80, 512, 100000} {
				tools := toolset(t, agenttool.Options{Backend: b, MaxTokens: budget})
				for path, content := range contents {
					for _, limit := range []int{1, 2, 3, 25, 200} {
						if len(content) > 5000 && budget < 512 && limit > 1 {
							continue
						}
						if got := joined(readAll(t, tools, path, limit, budget)); got != content {
							t.Errorf("%s limit %d budget %d: the pages do not join to the file", path, limit, budget)
						}
					}
				}
			}
		})
	}
}

func TestReadEdges(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/three": "l1\nl2\nl3\n", "/empty": "", "/noend": "a\nb", "/blank": "alpha\n\nomega\n", "/abc": "a\nb\nc\n"})
	tools := toolset(t, agenttool.Options{Backend: b})
	read := func(path string, offset, limit int) *agenttool.ReadOutput {
		t.Helper()
		out, err := run[*agenttool.ReadOutput](t, tools, "readFile", args{"path": path, "offset": offset, "limit": limit})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// Past the end there is nothing, and the number of lines shows.
	for _, c := range []struct {
		path         string
		offset, line int
		continued    bool
	}{
		{"/three", 3, 4, false}, {"/three", 1200, 4, false}, {"/three", 1<<53 - 1, 4, false},
		{"/empty", 0, 1, false}, {"/empty", 1, 1, false}, {"/empty", 2, 1, false}, {"/noend", 50, 2, true},
	} {
		if o := read(c.path, c.offset, 200); o.Content != "" || o.NextCursor != nil || o.Line != c.line || o.Continued != c.continued {
			t.Errorf("%s from %d: %+v", c.path, c.offset, o)
		}
	}
	// A blank line at the end of a page is on it.
	if o := read("/blank", 0, 2); o.Content != "alpha\n\n" || o.NextCursor == nil {
		t.Errorf("%+v", o)
	}
	// A limit of one is one line.
	for i, want := range []string{"a\n", "b\n", "c\n"} {
		if o := read("/abc", i, 1); o.Content != want || o.Line != i+1 || (o.NextCursor == nil) != (i == 2) {
			t.Errorf("line %d: %+v", i, o)
		}
	}
}

// The text is one line of JSON, then the content as it is.
func TestReadText(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/a <b>&.txt": "x \u2028 <y>\n"})
	tools := toolset(t, agenttool.Options{Backend: b})
	f, err := b.Read(t.Context(), "/a <b>&.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := call(t, tools, "readFile", `{"path":"/a <b>&.txt"}`)
	want := fmt.Sprintf(`{"path":"/a <b>&.txt","revision":%q,"line":1,"continued":false,"nextCursor":null}`, f.Revision) + "\nx \u2028 <y>\n"
	if text != want {
		t.Errorf("%q\nwant %q", text, want)
	}
}

func TestReadBudgetTooSmall(t *testing.T) {
	path := "/" + strings.Repeat("deep/", 60) + "file.txt"
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{path: "x", "/😀": "😀"}), MaxTokens: 30})
	if msg, code := call(t, tools, "readFile", `{"path":"`+path+`"}`); code != codes.BudgetTooSmall || !strings.Contains(msg, path) {
		t.Errorf("%q %s", code, msg)
	}
}

func TestReadHints(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/dir/x": "", "/U\u0308bung.md": "decomposed"})
	tools := toolset(t, agenttool.Options{Backend: b})
	for path, says := range map[string]string{
		"/dir":           "is a directory",
		"/\u00dcbung.md": "of the same look",
		"/nothing":       "find the right path with glob",
	} {
		if msg, code := call(t, tools, "readFile", `{"path":"`+path+`"}`); code != codes.NotFound || !strings.Contains(msg, says) {
			t.Errorf("%s: %q %s", path, code, msg)
		}
	}
}

// A read that is paused refuses to go on in another version of the file.
func TestReadStale(t *testing.T) {
	for name, b := range stores(t, map[string]string{"/f": strings.Repeat("line\n", 100)}) {
		t.Run(name, func(t *testing.T) {
			tools := toolset(t, agenttool.Options{Backend: b})
			first, err := run[*agenttool.ReadOutput](t, tools, "readFile", args{"path": "/f"})
			if err != nil {
				t.Fatal(err)
			}
			next := args{"path": "/f", "cursor": first.Next()}
			info, err := vfs.Write(t.Context(), b, "/f", strings.Repeat("LINE\n", 100), first.Revision)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run[*agenttool.ReadOutput](t, tools, "readFile", next); agenttool.CodeOf(err) != codes.StaleCursor {
				t.Errorf("after a change: %v", err)
			}
			if err := vfs.Remove(t.Context(), b, "/f", info.Revision); err != nil {
				t.Fatal(err)
			}
			if _, err := run[*agenttool.ReadOutput](t, tools, "readFile", next); agenttool.CodeOf(err) != codes.StaleCursor {
				t.Errorf("after a delete: %v", err)
			}
		})
	}
}
