package agenttool_test

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/routefs"
)

// pageSizes follows a search to its end and returns how many matches each page has.
func pageSizes(t *testing.T, tools *agenttool.Toolset, tool string, in args) (sizes []int) {
	t.Helper()
	for {
		res, err := runAs(t.Context(), tools, agenttool.Scope{}, tool, in)
		if err != nil {
			t.Fatal(err)
		}
		switch out := res.Output.(type) {
		case *agenttool.GlobOutput:
			sizes = append(sizes, len(out.Matches))
		case *agenttool.GrepOutput:
			sizes = append(sizes, len(out.Matches))
		}
		if in["cursor"] = res.Output.Next(); res.Output.Next() == "" {
			return sizes
		}
	}
}

// A page has a cursor exactly when something more would be shown, however many
// files lie between and after the matches.
func TestSearchPagesAreFull(t *testing.T) {
	for _, perFile := range []int{1, 3, 100} {
		for _, found := range []int{0, 1, 2, 4, 5, 11, 12} {
			files := map[string]string{}
			for i := range 150 {
				files[fmt.Sprintf("/d%d/empty%03d", i%3, i)] = "nothing\n"
			}
			for i := 0; i < found; i += perFile {
				n := min(perFile, found-i)
				files[fmt.Sprintf("/d%d/hit%03d", i%5, i)] = "intro\n" + strings.Repeat("needle\nother\n", n) + "end"
			}
			b := teststore.Memory(t, files)
			hitFiles := (found + perFile - 1) / perFile
			for _, size := range []int{1, 2, 4, 6, 12, 100} {
				tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: size, MaxTokens: 100000})
				for _, c := range []struct {
					tool  string
					in    args
					found int
				}{
					{"grep", args{"pattern": "NEEDLE"}, found},
					{"grep", args{"pattern": "needle", "ignoreCase": false}, found},
					{"glob", args{"pattern": "/**/hit*"}, hitFiles},
					{"glob", args{"pattern": "/*/hit*"}, hitFiles},
				} {
					want := []int{}
					for left := c.found; left > 0 || len(want) == 0; left -= size {
						want = append(want, min(left, size))
					}
					if diff := cmp.Diff(want, pageSizes(t, tools, c.tool, c.in)); diff != "" {
						t.Errorf("%d matches, %d a file, page size %d: %s: -want +got\n%s", c.found, perFile, size, c.tool, diff)
					}
				}
			}
		}
	}
}

// Where MaxFiles is set a call looks no further than the page, so the last page
// may show nothing; and it pauses after so many files.
func TestSearchByFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("/f%03d", i)] = "nothing"
	}
	files["/f010"], files["/f200"] = "needle", "needle"
	for _, c := range []struct {
		maxFiles, maxMatches int
		want                 []int
	}{
		{128, 10, []int{1, 1, 0}}, {128, 1, []int{1, 0, 1, 0}}, {100, 10, []int{1, 0, 1}}, {1024, 10, []int{2}}, {1024, 2, []int{2, 0}}, {0, 10, []int{2}}, {0, 1, []int{1, 1}},
	} {
		tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, files), MaxFiles: c.maxFiles, MaxMatches: c.maxMatches})
		if diff := cmp.Diff(c.want, pageSizes(t, tools, "grep", args{"pattern": "needle"})); diff != "" {
			t.Errorf("MaxFiles %d, MaxMatches %d: -want +got\n%s", c.maxFiles, c.maxMatches, diff)
		}
	}
}

// The least bound is one too.
func TestSearchFileByFile(t *testing.T) {
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/1": "no", "/2": "no", "/3": "needle"}), MaxFiles: 1})
	for tool, in := range map[string]args{"grep": {"pattern": "needle"}, "glob": {"pattern": "/**3"}} {
		if diff := cmp.Diff([]int{0, 0, 1}, pageSizes(t, tools, tool, in)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tool, diff)
		}
	}
}

// counted is a store of equal files that are made when they are asked for.
type counted struct {
	names   []string // sorted
	content string
	read    int // files
}

func (c *counted) Read(_ context.Context, path string) (vfs.File, error) {
	c.read++
	return vfs.File{Info: vfs.Info{Path: path, Revision: "r", Size: int64(len(c.content))}, Content: c.content}, nil
}

func (c *counted) List(_ context.Context, _ string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	i := sort.SearchStrings(c.names, opts.After+"\x00")
	end := min(i+opts.Limit, len(c.names))
	page := vfs.Page{}
	for _, name := range c.names[i:end] {
		page.Files = append(page.Files, vfs.Info{Path: name, Revision: "r", Size: int64(len(c.content))})
	}
	if end < len(c.names) {
		page.Next = c.names[end-1]
	}
	return page, err
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("/f%06d", i))
	}
	return names
}

// A grep reads 64 MiB a call, and a glob looks at 131,072 names.
func TestSearchBounds(t *testing.T) {
	mebibyte := strings.Repeat("nothing\n", 1<<17)
	for _, c := range []struct{ files, pages int }{{64, 1}, {65, 2}, {128, 2}, {129, 3}} {
		b := &counted{names: numbered(c.files), content: mebibyte}
		sizes := pageSizes(t, toolset(t, agenttool.Options{Backend: b}), "grep", args{"pattern": "needle", "ignoreCase": false})
		if len(sizes) != c.pages || b.read != c.files {
			t.Errorf("grep of %d MiB took %d calls, which read %d files; want %d calls", c.files, len(sizes), b.read, c.pages)
		}
	}
	for _, c := range []struct{ names, pages int }{{131072, 1}, {131073, 2}} {
		b := &counted{names: numbered(c.names)}
		if sizes := pageSizes(t, toolset(t, agenttool.Options{Backend: b}), "glob", args{"pattern": "/**/*.md"}); len(sizes) != c.pages {
			t.Errorf("glob over %d names took %d calls, want %d", c.names, len(sizes), c.pages)
		}
	}
}

// What cannot be read as text counts with its size.
func TestUnreadableFilesCount(t *testing.T) {
	store := &counted{names: numbered(130), content: strings.Repeat("x", 1<<20)}
	b := faulty{store, func(string) (vfs.File, error, bool) { return vfs.File{}, vfs.ErrNotText, true }}
	tools := toolset(t, agenttool.Options{Backend: b, MaxTokens: 100000})
	out, err := run[*agenttool.GrepOutput](t, tools, "grep", args{"pattern": "needle"})
	if err != nil || len(out.Skipped) != 64 || out.NextCursor == nil {
		t.Errorf("%d files skipped in one call, next %q, %v", len(out.Skipped), out.Next(), err)
	}
}

// Matches are shown once a page is full, whatever cannot be searched lies between.
func TestSkippedBetweenPages(t *testing.T) {
	mem := teststore.Memory(t, map[string]string{"/a": "hit", "/b": "", "/c": "hit", "/d": "", "/e": ""})
	b := faulty{mem, func(path string) (vfs.File, error, bool) {
		return vfs.File{}, vfs.ErrNotText, path == "/b" || path == "/d" || path == "/e"
	}}
	tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: 1})
	var got []string
	for in := (args{"pattern": "hit"}); ; {
		out, err := run[*agenttool.GrepOutput](t, tools, "grep", in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(at(out.Matches), out.Skipped))
		if in["cursor"] = out.Next(); out.Next() == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"[/a:1:hit] [/b]", "[/c:1:hit] [/d /e]"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A search pauses inside a file only where more of that file would be shown, so a
// change of the file behind its last match is no reason to start again.
func TestPausesBetweenFiles(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/a": "hit\nother\n", "/b": "hit\nhit\n", "/c": "hit"})
	for _, o := range []agenttool.Options{{Backend: b, MaxMatches: 1}, {Backend: b, MaxTokens: 45}} {
		tools := toolset(t, o)
		in := args{"pattern": "hit"}
		for i, want := range []codes.Code{"", codes.StaleCursor} { // between /a and /b, then inside /b
			out, err := run[*agenttool.GrepOutput](t, tools, "grep", in)
			if err != nil || len(out.Matches) != 1 {
				t.Fatalf("page %d: %v, %v", i+1, out, err)
			}
			in["cursor"] = out.Next()
			f, err := b.Read(t.Context(), out.Matches[0].Path)
			if err == nil {
				_, err = b.Write(t.Context(), f.Path, f.Content+"more\n", f.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run[*agenttool.GrepOutput](t, tools, "grep", in); agenttool.CodeOf(err) != want {
				t.Errorf("MaxMatches %d: after a change of %s: %v, want %q", o.MaxMatches, f.Path, err, want)
			}
		}
	}
}

// A glob starts at its fixed text: what lies before is not asked, not even for
// whether it can be reached.
func TestGlobAsksOnlyWhereItMatches(t *testing.T) {
	failing := faultyList{teststore.Memory(t, nil)}
	routed, err := routefs.New(teststore.Memory(t, map[string]string{"/zoo/b": "", "/z/b": "", "/a/b": ""}), []routefs.Route{{Prefix: "/skills", Backend: failing}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := toolset(t, agenttool.Options{Backend: routed})
	for pattern, want := range map[string][]string{
		"/z*/b": {"/z/b", "/zoo/b"}, "/zo?/**": {"/zoo/b"}, "/z/b*": {"/z/b"}, "//z*//b/": {"/z/b", "/zoo/b"}, "/t*": {},
	} {
		if got, _ := globAll(t, tools, pattern); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if msg, code := call(t, tools, "glob", `{"pattern":"/s*/b"}`); code != codes.Store {
		t.Errorf("a store that fails where the pattern may match: %s %q", code, msg)
	}
}

type faultyList struct{ vfs.Backend }

func (faultyList) List(context.Context, string, vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, errors.New("disk on fire")
}

// A call that is cancelled while it reads ends with the file that it is at.
func TestSearchCanceledMidway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("/f%02d", i)] = "nothing"
	}
	read := 0
	b := faulty{teststore.Memory(t, files), func(string) (vfs.File, error, bool) {
		if read++; read == 5 {
			cancel()
		}
		return vfs.File{}, nil, false
	}}
	tools := toolset(t, agenttool.Options{Backend: b})
	if _, err := runAs(ctx, tools, agenttool.Scope{}, "grep", args{"pattern": "needle"}); agenttool.CodeOf(err) != codes.Canceled || read > 5 {
		t.Errorf("after %d files: %v", read, err)
	}
}

// indexed is a store that notes what it is asked to search for.
type indexed struct {
	vfs.Backend
	asked []string
}

func (x *indexed) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	x.asked = append(x.asked, fmt.Sprintf("%s %q %v", dir, opts.Text, opts.Fold))
	return x.List(ctx, dir, opts.ListOptions)
}

// A grep asks the store's index for what it looks for, but where every file counts or
// no file can have it.
func TestGrepAsksTheIndex(t *testing.T) {
	for _, c := range []struct {
		in       args
		maxFiles int
		want     []string
	}{
		{args{"pattern": "Hit"}, 0, []string{`/ "Hit" true`}},
		{args{"pattern": "Hit", "ignoreCase": false, "path": "//d/"}, 0, []string{`/d "Hit" false`}},
		{args{"pattern": "Hit"}, 128, nil},
		{args{"pattern": "a\nb"}, 0, nil},
	} {
		b := &indexed{Backend: teststore.Memory(t, map[string]string{"/d/a": "Hit"})}
		if _, err := run[*agenttool.GrepOutput](t, toolset(t, agenttool.Options{Backend: b, MaxFiles: c.maxFiles}), "grep", c.in); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.asked); diff != "" {
			t.Errorf("%v, MaxFiles %d: -want +asked\n%s", c.in, c.maxFiles, diff)
		}
	}
}
