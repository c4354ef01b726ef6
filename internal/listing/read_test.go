package listing_test

import (
	"errors"
	"testing"

	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
)

// Read gives the file that Next returned last, whichever files are read and passed over,
// over a store with batches and over one without.
func TestRead(t *testing.T) {
	whole := store(t)
	for name, b := range map[string]vfs.Backend{"batches": whole, "one by one": struct{ vfs.Backend }{whole}} {
		for _, every := range []int{1, 2, 3, 7, 50} {
			files := listing.New(b, listing.All, "/", "", listing.MaxPage)
			n := 0
			for ; ; n++ {
				info, ok, err := files.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				if info.Path == "/a/60" {
					files.Skip("/a")
				}
				if n%every != 0 {
					continue
				}
				want, err := vfs.Read(t.Context(), b, info.Path)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := files.Read(t.Context()); err != nil || got != want {
					t.Fatalf("%s, every %d: Read gives %+v, %v, want %+v", name, every, got, err, want)
				}
			}
			if n != 161 {
				t.Errorf("%s, every %d: %d files", name, every, n)
			}
		}
	}
}

// A file that goes after it was listed fails alone.
func TestReadGone(t *testing.T) {
	b := store(t)
	files := listing.New(b, listing.All, "/", "", 3)
	for i := range 3 {
		info, _, err := files.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := vfs.Remove(t.Context(), b, "/a/01", mustStat(t, b, "/a/01").Revision); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := files.Read(t.Context()); errors.Is(err, vfs.ErrNotFound) != (i == 1) || err != nil && i != 1 {
			t.Errorf("%s: %v", info.Path, err)
		}
	}
}

func mustStat(t *testing.T, b vfs.Backend, path string) vfs.Info {
	t.Helper()
	info, err := vfs.Stat(t.Context(), b, path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
