package pages_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/pages"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Pages joined are the files at and below a directory, whatever their size and
// wherever the bound lies.
func TestOf(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/c/d", "/a-b", "/a0", "/b", "/\U0001F600/x", "/\uE000"}
	slices.SortFunc(paths, vpath.Compare)
	var files []vfs.Info
	for _, path := range paths {
		files = append(files, vfs.Info{Path: path, Revision: "r"})
	}
	for _, dir := range []string{"/", "/a", "/a/c", "/none", "/\U0001F600"} {
		for _, first := range []string{"", "/a", "/a/", "/a/b", "/a-", "/zz", "no path"} {
			var want []string
			for _, path := range paths {
				if vpath.Within(path, dir) && vpath.Compare(path, first) > 0 {
					want = append(want, path)
				}
			}
			for _, limit := range []int{1, 2, 3, 256} {
				var got []string
				for opts := (vfs.ListOptions{After: first, Limit: limit}); ; {
					page, err := pages.Of(files, dir, opts)
					if err != nil {
						t.Fatal(err)
					}
					for _, info := range page.Files {
						got = append(got, info.Path)
					}
					if opts.After = page.Next; opts.After == "" {
						break
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s after %q, pages of %d (-want +got):\n%s", dir, first, limit, diff)
				}
			}
		}
	}
	for _, opts := range []vfs.ListOptions{{Limit: -1}, {Limit: 257}, {After: "\xff"}} {
		if _, err := pages.Of(files, "/", opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
	if _, err := pages.Of(files, "relative", vfs.ListOptions{}); err == nil {
		t.Error("a relative directory is taken")
	}
}
