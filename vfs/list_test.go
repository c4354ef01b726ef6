package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// wrong gives one page whatever it is asked for.
type wrong struct {
	vfs.Backend
	page vfs.Page
}

func (w wrong) List(context.Context, string, vfs.ListOptions) (vfs.Page, error) { return w.page, nil }

// A store whose pages cannot be right is an error to everyone who follows them,
// through every wrapper: else a walk never ends, or takes a path for another.
func TestWrongPagesAreRefused(t *testing.T) {
	files := func(paths ...string) (infos []vfs.Info) {
		for _, path := range paths {
			infos = append(infos, vfs.Info{Path: path, Revision: "r"})
		}
		return infos
	}
	var many []string
	for i := range 257 {
		many = append(many, fmt.Sprintf("/d/%03d", i))
	}
	for name, page := range map[string]vfs.Page{
		"the same page for ever":    {Files: files("/d/a", "/d/b"), Next: "/d/b"},
		"goes on before its last":   {Files: files("/d/a", "/d/b"), Next: "/d/a"},
		"an empty page for ever":    {Next: "/d/a"},
		"goes on outside":           {Files: files("/d/a"), Next: "/e"},
		"no path":                   {Files: files("")},
		"another directory":         {Files: files("/d/a", "/e")},
		"a sibling":                 {Files: files("/d0")},
		"out of order":              {Files: files("/d/b", "/d/a")},
		"twice":                     {Files: files("/d/a", "/d/a")},
		"in order of bytes":         {Files: files("/d/\ue000", "/d/\U0001f600")},
		"more than were asked for":  {Files: files(many...)},
		"goes on where it is asked": {Next: "/d/"},
	} {
		t.Run(name, func(t *testing.T) {
			b := wrong{page: page}
			sub, err := wrap.Sub(b, "/d")
			if err != nil {
				t.Fatal(err)
			}
			deeper, err := wrap.Sub(wrap.ReadOnly(b), "/d")
			if err != nil {
				t.Fatal(err)
			}
			// What is wrong with one page alone is told at once.
			if _, err := vfs.List(t.Context(), b, "/d", vfs.ListOptions{After: "/d/"}); (err == nil) != strings.HasSuffix(name, "for ever") {
				t.Errorf("List = %v", err)
			}
			for dir, b := range map[string]vfs.Backend{"/d": wrap.ReadOnly(b), "/": sub, "//": deeper} {
				n, last := 0, error(nil)
				for _, err := range walk.Files(t.Context(), b, dir) {
					if n, last = n+1, err; n > 1000 {
						t.Fatal("the walk does not end")
					}
				}
				if vfs.Code(last) != "store" || !strings.Contains(errorText(last), "report this to who wrote it") {
					t.Errorf("Walk of %s ends with %v", dir, last)
				}
				n, last = 0, nil
				for _, err := range walk.Dir(t.Context(), b, dir) {
					if n, last = n+1, err; n > 1000 {
						t.Fatal("the walk does not end")
					}
				}
				if last == nil {
					t.Errorf("ReadDir of %s ends well", dir)
				}
			}
		})
	}
}

func TestSearchOptionsChecked(t *testing.T) {
	for _, opts := range []vfs.SearchOptions{
		{}, {Text: "a\nb"}, {Text: "\xff"}, {Text: "a", ListOptions: vfs.ListOptions{Limit: 257}}, {Text: "a", ListOptions: vfs.ListOptions{After: "\xff"}},
	} {
		if _, err := opts.Checked(); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%+v: %v, want %v", opts, err, fs.ErrInvalid)
		}
		if _, err := vfs.Search(t.Context(), teststore.Paths(t), "//", opts); !errors.Is(err, fs.ErrInvalid) || !strings.HasPrefix(err.Error(), "search /: ") {
			t.Errorf("Search with %+v: %v", opts, err)
		}
	}
	if opts, err := (vfs.SearchOptions{Text: "\r\x00"}).Checked(); err != nil || opts.Limit != 64 {
		t.Errorf("%+v, %v, want the default limit", opts, err)
	}
	if _, err := vfs.Search(t.Context(), teststore.Paths(t), "x", vfs.SearchOptions{Text: "a"}); !errors.Is(err, vfs.ErrInvalidPath) {
		t.Errorf("Search of no path: %v", err)
	}
}
