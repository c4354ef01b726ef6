package agenttool_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// queries are first pages that have a next one, each of another query.
func queries(t testing.TB) (*memfs.FS, map[string]func(tools *agenttool.Toolset, cursor string) (string, error)) {
	b := teststore.Memory(t, map[string]string{
		"/docs/a.md": strings.Repeat("water\n", 40), "/docs/b.md": "water", "/docs/c.md": "", "/z": strings.Repeat("water\n", 40),
	})
	ctx := t.Context()
	query := func(tool string, in args) func(*agenttool.Toolset, string) (string, error) {
		return func(tools *agenttool.Toolset, cursor string) (string, error) {
			in := maps.Clone(in)
			in["cursor"] = cursor
			res, err := runAs(ctx, tools, agenttool.Scope{}, tool, in)
			if err != nil {
				return "", err
			}
			return res.Output.Next(), nil
		}
	}
	glob := func(pattern string) func(*agenttool.Toolset, string) (string, error) {
		return query("glob", args{"pattern": pattern})
	}
	grep := func(pattern string, more args) func(*agenttool.Toolset, string) (string, error) {
		in := args{"pattern": pattern}
		maps.Copy(in, more)
		return query("grep", in)
	}
	read := func(path string) func(*agenttool.Toolset, string) (string, error) {
		return query("readFile", args{"path": path})
	}
	return b, map[string]func(*agenttool.Toolset, string) (string, error){
		"glob docs": glob("/docs/*"), "glob all": glob("/**"),
		"grep": grep("water", nil), "grep case": grep("water", args{"ignoreCase": false}), "grep docs": grep("water", args{"path": "/docs"}), "grep wate": grep("wate", nil),
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
			if from != to && agenttool.CodeOf(err) != codes.InvalidCursor {
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
			if _, err := q(tools, m); agenttool.CodeOf(err) != codes.InvalidCursor {
				t.Errorf("%s: %q for %q is taken: %v", name, m, cursor, err)
			}
		}
	}
}

// forged makes a cursor whose checksum is right.
func forged(path string, parts ...[]byte) string {
	head := bytes.Join(parts, nil)
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(append(bytes.Clone(head), path...)))[:3]
	return base64.RawURLEncoding.EncodeToString(append(sum, head...)) + path
}

// A cursor is no credential, so one that was made up with the right checksum is
// refused like any other that points to no place where a page can end.
func TestForgedCursors(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/docs/a": strings.Repeat("é\n", 40), "/docs/b": "é", "/z": strings.Repeat("é\n", 40)})
	tools := toolset(t, agenttool.Options{Backend: b, Root: "/docs", MaxMatches: 2})
	offset := func(n uint64) []byte { return binary.AppendUvarint(nil, n) }
	for _, q := range []struct {
		tool, args string
		path       string // in its cursors
		make       func(tag, rev []byte) map[string]string
	}{
		{"readFile", `"path":"/docs/a"`, "", func(tag, rev []byte) map[string]string {
			return map[string]string{
				"no revision": forged("", tag), "no offset": forged("", tag, rev), "offset cut": forged("", tag, rev, []byte{0x80}),
				"bytes left over": forged("", tag, rev, offset(3), []byte{0}), "inside a character": forged("", tag, rev, offset(1)),
				"past the end": forged("", tag, rev, offset(121)), "far past the end": forged("", tag, rev, offset(1<<40)),
				"of a search": forged("/docs/a", tag, rev, offset(3)), "between files": forged("/docs/a", tag),
			}
		}},
		{"grep", `"pattern":"é"`, "/docs/a", func(tag, rev []byte) map[string]string {
			return map[string]string{
				"no path": forged("", tag), "inside no path": forged("", tag, rev, offset(3)), "outside the root": forged("/z", tag),
				"inside a file outside the root": forged("/z", tag, rev, offset(3)), "above the root": forged("/docs/../z", tag),
				"not canonical": forged("/docs//a", tag), "inside a line": forged("/docs/a", tag, rev, offset(2)),
				"inside a character": forged("/docs/a", tag, rev, offset(1)), "past the end": forged("/docs/a", tag, rev, offset(121)),
			}
		}},
		{"glob", `"pattern":"/docs/*"`, "", func(tag, rev []byte) map[string]string {
			return map[string]string{"inside a file": forged("/docs/a", tag, rev, offset(0)), "outside the root": forged("/z", tag), "no path": forged("", tag)}
		}},
	} {
		first, err := toolset(t, agenttool.Options{Backend: b, Root: "/docs", MaxMatches: 1}).Call(t.Context(), agenttool.Scope{}, q.tool, []byte("{"+q.args+"}"))
		if err != nil || first.Output.Next() == "" {
			t.Fatalf("%s: %v %v", q.tool, first.Text, err)
		}
		text, _, _ := strings.Cut(first.Output.Next(), "/")
		head, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		tag, rev := head[3:6], make([]byte, 5)
		copy(rev, head[6:])
		use := func(cursor string) (string, codes.Code) {
			return call(t, tools, q.tool, fmt.Sprintf(`{%s,"cursor":%q}`, q.args, cursor))
		}
		for name, cursor := range q.make(tag, rev) {
			if msg, code := use(cursor); code != codes.InvalidCursor {
				t.Errorf("%s, %s: %s %q", q.tool, name, code, msg)
			}
		}
		if len(head) > 6 { // the forger is right, and of another revision it is stale
			if msg, code := use(forged(q.path, tag, rev, offset(3))); code != "" {
				t.Errorf("%s: %s %q", q.tool, code, msg)
			}
			if msg, code := use(forged(q.path, tag, make([]byte, 5), offset(3))); code != codes.StaleCursor {
				t.Errorf("%s of another revision: %s %q", q.tool, code, msg)
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
			if _, err := q(tools, cursor); agenttool.CodeOf(err) != codes.InvalidCursor {
				t.Errorf("%s takes %q: %v", name, cursor, err)
			}
		}
	})
}
