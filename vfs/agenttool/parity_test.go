package agenttool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// parity is what the phone library answers, recorded: testdata/parity/tools.json.
type parity struct {
	Files map[string]string
	Cases []parityCase
}

type parityCase struct {
	Name    string
	Options struct {
		Root                                      string
		MaxTokens, MaxLines, MaxMatches, MaxFiles int
	}
	Tool   string
	Input  map[string]any
	Follow bool
	Error  bool
	Expect struct {
		Matches   []parityMatch
		Line      int
		Continued bool
		Content   string
		More      bool
		Pages     int
	}
}

type parityMatch struct {
	Path    string
	Line    int
	Excerpt string
}

func loadJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/parity/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestParity(t *testing.T) {
	var data parity
	loadJSON(t, "tools.json", &data)
	all := stores(t, data.Files)
	all["device"] = device(t, data.Files)
	for name, b := range all {
		t.Run(name, func(t *testing.T) {
			for _, c := range data.Cases {
				t.Run(c.Name, func(t *testing.T) { c.run(t, b) })
			}
		})
	}
}

// stores holds the same files in every kind of store that keeps them itself, and
// behind a route.
func stores(t *testing.T, files map[string]string) map[string]vfs.Backend {
	t.Helper()
	disk, err := badgerfs.Open(t.Context(), t.TempDir(), &badgerfs.Options{Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	table, err := sqlitefs.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), &sqlitefs.Options{Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(disk.Close(), table.Close()); err != nil {
			t.Error(err)
		}
	})
	// Behind a route the same paths show because the route hides nothing of them:
	// /docs comes from a store of its own.
	docs, rest := map[string]string{}, map[string]string{}
	for path, content := range files {
		if inside, ok := strings.CutPrefix(path, "/docs/"); ok {
			docs["/"+inside] = content
		} else {
			rest[path] = content
		}
		for _, s := range []vfs.Writer{disk, table} {
			if _, err := s.Write(t.Context(), path, content, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	routed, err := routefs.New(teststore.Memory(t, rest), []routefs.Route{{Prefix: "/docs", Backend: teststore.Memory(t, docs)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]vfs.Backend{"memory": teststore.Memory(t, files), "badger": disk, "sqlite": table, "route": routed}
}

// device is a database that a phone wrote, with its revisions, and holds files;
// the two that are too large to keep there are added.
func device(t *testing.T, files map[string]string) vfs.Backend {
	t.Helper()
	data, err := os.ReadFile("../sqlitefs/testdata/agent-files.db")
	file := filepath.Join(t.TempDir(), "x.db")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for path, content := range files {
		f, err := s.Read(t.Context(), path)
		if errors.Is(err, vfs.ErrNotFound) {
			f.Content = content
			_, err = s.Write(t.Context(), path, content, "")
		}
		if err != nil || f.Content != content {
			t.Fatalf("%s: %v, or another content", path, err)
		}
	}
	return s
}

func (c parityCase) run(t *testing.T, b vfs.Backend) {
	o := c.Options
	tools, err := agenttool.New(agenttool.Options{
		Backend: b, Root: o.Root, MaxTokens: o.MaxTokens, MaxLines: o.MaxLines, MaxMatches: o.MaxMatches, MaxFiles: o.MaxFiles,
	})
	if err != nil {
		if !c.Error {
			t.Fatal(err)
		}
		return
	}
	pages, err := follow(t, tools, c.Tool, c.Input, c.Follow)
	if (err != nil) != c.Error {
		t.Fatalf("error %v, want one: %v", err, c.Error)
	}
	if err != nil {
		return
	}
	if c.Expect.Pages > 0 && len(pages) > c.Expect.Pages {
		t.Errorf("%d pages, want at most %d", len(pages), c.Expect.Pages)
	}
	matches, content := []parityMatch{}, ""
	for _, p := range pages {
		if limit := o.MaxTokens; limit > 0 && p.Tokens > limit {
			t.Errorf("a page of %d tokens exceeds %d", p.Tokens, limit)
		}
		switch out := p.Output.(type) {
		case *agenttool.GlobOutput:
			for _, m := range out.Matches {
				matches = append(matches, parityMatch{Path: m.Path})
			}
		case *agenttool.GrepOutput:
			for _, m := range out.Matches {
				matches = append(matches, parityMatch{m.Path, m.Line, m.Excerpt})
			}
		case *agenttool.ReadOutput:
			content += out.Content
		}
	}
	if read, ok := pages[0].Output.(*agenttool.ReadOutput); ok {
		got := fmt.Sprintf("line %d continued %v content %q", read.Line, read.Continued, content)
		want := fmt.Sprintf("line %d continued %v content %q", c.Expect.Line, c.Expect.Continued, c.Expect.Content)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if more := read.NextCursor != nil; !c.Follow && more != c.Expect.More {
			t.Errorf("more %v, want %v", more, c.Expect.More)
		}
		return
	}
	// A shorter cursor leaves room for more of an excerpt that had to shrink.
	for i, m := range matches {
		if i < len(c.Expect.Matches) && o.MaxTokens < 1000 && strings.HasPrefix(m.Excerpt, c.Expect.Matches[i].Excerpt) {
			matches[i].Excerpt = c.Expect.Matches[i].Excerpt
		}
	}
	if diff := cmp.Diff(c.Expect.Matches, matches); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// follow calls a tool and, when asked, follows its cursors to the end.
func follow(t *testing.T, tools *agenttool.Toolset, tool string, input map[string]any, all bool) ([]agenttool.Result, error) {
	t.Helper()
	var pages []agenttool.Result
	args := map[string]any{}
	for k, v := range input {
		args[k] = v
	}
	for len(pages) < 10000 {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tools.Call(t.Context(), agenttool.Scope{}, tool, data)
		if err != nil {
			return pages, err
		}
		pages = append(pages, p)
		if p.Output.Next() == "" || !all {
			return pages, nil
		}
		delete(args, "offset") // a read goes on from the cursor
		args["cursor"] = p.Output.Next()
	}
	t.Fatal("the cursors do not end")
	return nil, nil
}
