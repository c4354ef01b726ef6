package listing_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func store(t *testing.T) vfs.Backend {
	t.Helper()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("/a/%02d", i)] = "k"
		files[fmt.Sprintf("/b/%02d", i)] = "K"
	}
	mem, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// odd leaves out all files but two, so that most pages are empty.
func odd(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := vfs.List(ctx, b, dir, opts)
	page.Files = slices.DeleteFunc(page.Files, func(info vfs.Info) bool { return info.Path != "/a/99" && info.Path != "/b/50" })
	return page, err
}

// Joined pages are the whole, whatever their size and however empty they are.
func TestLister(t *testing.T) {
	b := store(t)
	for _, most := range []int{1, 7, 16, listing.MaxPage} {
		for _, c := range []struct {
			fetch listing.Fetch
			after string
			skip  bool // all of /a but its first file
			want  int
		}{
			{listing.All, "", false, 200}, {listing.All, "/a/49", false, 150}, {listing.All, "", true, 101}, {odd, "", false, 2}, {odd, "/a/99", false, 1},
			{listing.Holding("k", true), "", false, 200},
		} {
			files, got := listing.New(b, c.fetch, "/", c.after, most), []string{}
			for {
				info, ok, err := files.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got = append(got, info.Path)
				if c.skip && info.Path == "/a/00" {
					files.Skip("/a")
				}
			}
			if len(got) != c.want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("pages of %d after %q, skip %v: %d files, want %d", most, c.after, c.skip, len(got), c.want)
			}
			if files.More() {
				t.Error("there is more after the end")
			}
		}
	}
}

// The first pages are small, for what ends a search is mostly in them.
func TestPageSizes(t *testing.T) {
	var sizes []int
	fetch := func(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error) {
		sizes = append(sizes, opts.Limit)
		return vfs.List(ctx, b, dir, opts)
	}
	for files := listing.New(store(t), fetch, "/", "", 64); ; {
		if _, ok, err := files.Next(t.Context()); err != nil || !ok {
			break
		}
	}
	if diff := cmp.Diff([]int{16, 32, 64, 64, 64}, sizes); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
