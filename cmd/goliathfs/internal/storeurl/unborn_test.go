package storeurl_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// first opens a store that is made when it is written to.
func first(t *testing.T, url string) vfs.Backend {
	t.Helper()
	var o storeurl.Opener
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := o.Open(t.Context(), spec(t, url), storeurl.Want{Write: true, Create: true, Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Backend
}

// TestUnbornStore: what is made at its first write keeps the contract before and
// after that; with GOLIATHFS_FULL behind wrappers too, for which each rule makes
// four databases more.
func TestUnbornStore(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes hundreds of databases")
	}
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, vfstest.Config{
		NoWatch: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			b := first(t, "sqlite:"+storeurl.Escape(filepath.Join(t.TempDir(), "s.db")))
			vfstest.Seed(t, b, seed)
			return b
		},
	})
}

// conforms runs the suite on the store alone.
func conforms(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

// TestFirstMakesOnce: of several first writers each finds what the others wrote,
// and what is refused makes nothing.
func TestFirstMakesOnce(t *testing.T) {
	for _, scheme := range []string{"badger:", "sqlite:"} {
		dir := t.TempDir()
		b := first(t, scheme+storeurl.Escape(filepath.Join(dir, "s")))
		if _, err := vfs.Write(t.Context(), b, "/a", "\xff", ""); err == nil {
			t.Errorf("%s takes what is no text", scheme)
		}
		if err := vfs.Remove(t.Context(), b, "/a", "BoLVjAxyzabc"); err == nil {
			t.Errorf("%s removes what is not there", scheme)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s has made %v", scheme, entries)
		}
		var writing sync.WaitGroup
		for _, path := range []string{"/a", "/b", "/c"} {
			writing.Go(func() {
				if _, err := vfs.Write(t.Context(), b, path, "x", ""); err != nil {
					t.Error(err)
				}
			})
		}
		writing.Wait()
		if page, err := vfs.List(t.Context(), b, "/", vfs.ListOptions{}); err != nil || len(page.Files) != 3 {
			t.Errorf("%s lists %d files, %v; want 3", scheme, len(page.Files), err)
		}
	}
}
