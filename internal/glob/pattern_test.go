package glob_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/glob"
	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func TestCompileRefuses(t *testing.T) {
	for pattern, says := range map[string]string{
		"": "start with /", "*.md": "start with /", "/a/../b": `".."`, "/./a": `"."`, `/a\b`: "backslash", "/\xff": "UTF-8",
		"/" + strings.Repeat("a", vpath.MaxUnits): "longer than 512",
	} {
		if _, err := glob.Compile(pattern); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want an error with %q", pattern, err, says)
		}
	}
	if _, err := glob.Compile("/..." + strings.Repeat("a", vpath.MaxUnits-4)); err != nil {
		t.Error(err)
	}
}

// asked is a store that notes between which files it was listed.
type asked struct {
	vfs.Backend
	listed int // files
	first  string
}

func (a *asked) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := a.Backend.List(ctx, dir, opts)
	if a.listed == 0 && len(page.Files) > 0 {
		a.first = page.Files[0].Path
	}
	a.listed += len(page.Files)
	return page, err
}

// A walk yields what matches, starts at the fixed text of its pattern, and looks at
// one name of a directory in which nothing can match.
func TestWalk(t *testing.T) {
	files := map[string]string{"/zoo/b": "", "/z": "", "/\U0001F600x": "", "/\uE000x": ""}
	for i := range 1000 {
		files[fmt.Sprintf("/a/deep/%03d", i)] = ""
		files[fmt.Sprintf("/m%d/x/%03d", i%3, i)] = ""
	}
	mem, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pattern string
		want    []string
		first   string // the first file that was listed
		listed  int    // files at most
	}{
		{"/z*/b", []string{"/zoo/b"}, "/z", 10},
		{"/z*", []string{"/z"}, "/z", 10},
		{"/\U0001F600*", []string{"/\U0001F600x"}, "/\U0001F600x", 10},
		{"/\uE000*", []string{"/\uE000x"}, "/\uE000x", 10},
		{"/*/b", []string{"/zoo/b"}, "/a/deep/000", 150},
		{"/m1/x/1?9", []string{"/m1/x/109", "/m1/x/139", "/m1/x/169", "/m1/x/199"}, "/m1/x/100", 150},
		{"/**/00[0]", nil, "/a/deep/000", 3000},
		{"/**/b", []string{"/zoo/b"}, "/a/deep/000", 3000},
		{"/**b", []string{"/zoo/b"}, "/a/deep/000", 3000},
		{"/z**", []string{"/z", "/zoo/b"}, "/z", 10},
		{"/zo?/**/b", []string{"/zoo/b"}, "/zoo/b", 10},
		{"//zoo//?/", []string{"/zoo/b"}, "/zoo/b", 10},
		{"/*/", nil, "/a/deep/000", 150},
	} {
		p, err := glob.Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		store := &asked{Backend: mem}
		var got []string
		for walk := p.Walk(store, p.Dir(), "", listing.MaxPage); ; {
			info, match, ok, err := walk.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if match {
				got = append(got, info.Path)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.pattern, diff)
		}
		if store.first != c.first || store.listed > c.listed {
			t.Errorf("%s: %d files were listed from %q on, want at most %d from %q on", c.pattern, store.listed, store.first, c.listed, c.first)
		}
	}
}
