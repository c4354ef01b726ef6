package storeurl_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// holding is a store that holds paths which it does not list.
type holding struct {
	vfs.Backend
	paths []string
}

func (h holding) Unlisted(_ context.Context, dir string) (found []leftout.Entry, err error) {
	for _, path := range h.paths {
		if vpath.Within(path, dir) {
			found = append(found, leftout.Entry{Path: path, Err: vfs.ErrNotText})
		}
	}
	return found, nil
}

// What a store holds below the prefix of a route would not show anyway, so it is not
// missing in a list.
func TestUnlistedOfRoutes(t *testing.T) {
	empty, err := memfs.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, sub := holding{empty, []string{"/a", "/sub/b", "/subway"}}, holding{empty, []string{"/c", "/d/e"}}
	all, err := routefs.New(base, []routefs.Route{{Prefix: "/sub", Backend: sub}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := storeurl.Store{Backend: all, Parts: []storeurl.Part{{Prefix: "/", Backend: base}, {Prefix: "/sub", Backend: sub}}}
	for dir, want := range map[string][]string{
		"/":      {"/a", "/subway", "/sub/c", "/sub/d/e"},
		"/sub":   {"/sub/c", "/sub/d/e"},
		"/sub/d": {"/sub/d/e"},
		"/a":     {"/a"},
	} {
		found, err := s.Unlisted(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, left := range found {
			got = append(got, left.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("below %s (-want +got):\n%s", dir, diff)
		}
	}
}
