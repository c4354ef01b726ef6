package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/check"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
)

// broken is a store that gives its files as they are written down here.
type broken []vfs.File

func (b broken) List(_ context.Context, _ string, opts vfs.ListOptions) (vfs.Page, error) {
	var page vfs.Page
	if opts.After == "" {
		for _, f := range b {
			page.Files = append(page.Files, f.Info)
		}
	}
	return page, nil
}

func (b broken) Read(_ context.Context, path string) (vfs.File, error) {
	if path == "/unreadable" {
		return vfs.File{}, errors.New("the disk says no")
	}
	for _, f := range b {
		if f.Path == path {
			return f, nil
		}
	}
	return vfs.File{}, vfs.ErrNotFound
}

func file(path string, rev vfs.Revision, size int64, content string) vfs.File {
	return vfs.File{Info: vfs.Info{Path: path, Revision: rev, Size: size}, Content: content}
}

func TestStore(t *testing.T) {
	sound := broken{file("/a", "1", 1, "a"), file("/b", "2", -1, "bb"), file("/\U0001F600", "3", 0, ""), file("/\uE000", "4", 0, "")}
	sum, err := check.Store(t.Context(), sound, func(p leftout.Entry) { t.Errorf("a sound store has %+v", p) })
	if err != nil || sum != (check.Sum{Files: 4, Bytes: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}

	faulty := broken{
		file("/size", "1", 5, "abc"),
		file("/order", "2", 0, ""),
		file("/order", "6", 0, ""),
		file("/twice", "2", 0, ""),
		file("/unreadable", "3", 0, ""),
		file("/unrevised", "", 0, ""),
		file("/x", "4", 1, "\xff"),
		file("/x//y", "5", 0, ""),
	}
	got := map[string]string{}
	if _, err := check.Store(t.Context(), faulty, func(p leftout.Entry) { got[p.Path] += p.Err.Error() }); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		"/size":       "5 bytes and has 3",
		"/order":      "it is listed behind /order and sorts before it",
		"/twice":      "revision 2 of /order",
		"/unreadable": "the disk says no",
		"/unrevised":  "no revision",
		"/x":          "not valid UTF-8",
		"/x//y":       "canonical",
	} {
		if !strings.Contains(got[path], says) {
			t.Errorf("%.20s: %q, want %q in it", path, got[path], says)
		}
		delete(got, path)
	}
	if diff := cmp.Diff(map[string]string{}, got); diff != "" {
		t.Errorf("more than that:\n%s", diff)
	}
}

// stuck is a store whose pages go on where they are.
type stuck struct{ broken }

func (s stuck) List(_ context.Context, _ string, opts vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{Next: "/a"}, nil
}

// A list that does not come to an end is told, and ends the check.
func TestListThatDoesNotEnd(t *testing.T) {
	_, err := check.Store(t.Context(), stuck{}, func(leftout.Entry) {})
	if err == nil || !strings.Contains(err.Error(), `after "/a" it goes on after "/a"`) {
		t.Errorf("%v", err)
	}
}
