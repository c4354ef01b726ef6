package agenttool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// queries are first pages that have a next one, each of another query.
func queries(t testing.TB) (*memfs.FS, map[string]func(tools *agenttool.Toolset, cursor string) (string, error)) {
	b := memory(t, map[string]string{
		"/docs/a.md": strings.Repeat("water\n", 40), "/docs/b.md": "water", "/docs/c.md": "", "/z": strings.Repeat("water\n", 40),
	})
	glob := func(pattern string) func(*agenttool.Toolset, string) (string, error) {
		return func(tools *agenttool.Toolset, cursor string) (string, error) {
			res, err := tools.Glob(context.Background(), agenttool.Scope{}, agenttool.GlobInput{Pattern: pattern, Cursor: cursor})
			if err != nil {
				return "", err
			}
			return res.Output.Next(), nil
		}
	}
	grep := func(pattern, path string, caseSensitive bool) func(*agenttool.Toolset, string) (string, error) {
		return func(tools *agenttool.Toolset, cursor string) (string, error) {
			res, err := tools.Grep(context.Background(), agenttool.Scope{}, agenttool.GrepInput{Pattern: pattern, Path: path, CaseSensitive: caseSensitive, Cursor: cursor})
			if err != nil {
				return "", err
			}
			return res.Output.Next(), nil
		}
	}
	read := func(path string) func(*agenttool.Toolset, string) (string, error) {
		return func(tools *agenttool.Toolset, cursor string) (string, error) {
			res, err := tools.ReadFile(context.Background(), agenttool.Scope{}, agenttool.ReadInput{Path: path, Cursor: cursor})
			if err != nil {
				return "", err
			}
			return res.Output.Next(), nil
		}
	}
	return b, map[string]func(*agenttool.Toolset, string) (string, error){
		"glob docs": glob("/docs/*"), "glob all": glob("/**"),
		"grep": grep("water", "", false), "grep case": grep("water", "", true), "grep docs": grep("water", "/docs", false), "grep wate": grep("wate", "", false),
		"read a": read("/docs/a.md"), "read z": read("/z"),
	}
}

func TestCursorsBelongToTheirQuery(t *testing.T) {
	b, all := queries(t)
	tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: 2})
	rooted := toolset(t, agenttool.Options{Backend: b, MaxMatches: 2, Root: "/docs"})
	cursors := map[string]string{}
	for name, q := range all {
		next, err := q(tools, "")
		if err != nil || next == "" {
			t.Fatalf("%s: %q %v", name, next, err)
		}
		cursors[name] = next
		if head := strings.SplitN(next, "/", 2)[0]; len(head) > 24 || strings.HasPrefix(name, "read") && len(next) > 24 {
			t.Errorf("%s: the cursor %q is long", name, next)
		}
	}
	for from, cursor := range cursors {
		for to, q := range all {
			_, err := q(tools, cursor)
			if from == to && err != nil {
				t.Errorf("%s refuses its own cursor: %v", to, err)
			}
			if from != to && agenttool.CodeOf(err) != agenttool.CodeInvalidCursor {
				t.Errorf("%s takes the cursor of %s: %v", to, from, err)
			}
		}
		if _, err := all[from](rooted, cursor); err == nil {
			t.Errorf("%s: a cursor works under another root", from)
		}
	}
}

// Every change of a cursor is refused: one character replaced, removed, doubled,
// swapped with its neighbour, or case changed.
func TestCursorsNoticeMistakes(t *testing.T) {
	b, all := queries(t)
	tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: 2})
	for name, q := range all {
		cursor, err := q(tools, "")
		if err != nil {
			t.Fatal(err)
		}
		mistakes := []string{cursor + "A", cursor + " ", " " + cursor, strings.ToUpper(cursor) + "x", "null", "0", cursor + cursor}
		for i := range len(cursor) {
			mistakes = append(mistakes, cursor[:i]+cursor[i+1:], cursor[:i]+"x"+cursor[i+1:], cursor[:i]+cursor[i:i+1]+cursor[i:], cursor[:i]+"/"+cursor[i:])
			if i > 0 {
				mistakes = append(mistakes, cursor[:i-1]+cursor[i:i+1]+cursor[i-1:i]+cursor[i+1:])
			}
		}
		for _, m := range mistakes {
			if m == cursor || m == "" {
				continue
			}
			if _, err := q(tools, m); agenttool.CodeOf(err) != agenttool.CodeInvalidCursor {
				t.Errorf("%s: %q for %q is taken: %v", name, m, cursor, err)
			}
		}
	}
}

func FuzzCursor(f *testing.F) {
	b, all := queries(f)
	tools := toolset(f, agenttool.Options{Backend: b, MaxMatches: 2})
	valid := map[string]bool{}
	for _, q := range all {
		for cursor := ""; ; {
			next, err := q(tools, cursor)
			if err != nil {
				f.Fatal(err)
			}
			if next == "" {
				break
			}
			valid[next] = true
			f.Add(next)
			cursor = next
		}
	}
	f.Add("/docs/a.md")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAA/docs/a.md")
	f.Fuzz(func(t *testing.T, cursor string) {
		if cursor == "" || valid[cursor] {
			return
		}
		for name, q := range all {
			if _, err := q(tools, cursor); agenttool.CodeOf(err) != agenttool.CodeInvalidCursor {
				t.Errorf("%s takes %q: %v", name, cursor, err)
			}
		}
	})
}
