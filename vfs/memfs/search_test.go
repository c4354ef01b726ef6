package memfs_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// indexed opens a store that has an index from the start.
func indexed(t testing.TB, seed map[string]string) *memfs.FS {
	t.Helper()
	b := open(t, seed, &memfs.Options{IndexFrom: 1})
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := b.BuildIndex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// With an index the store is the same store.
func TestIndexedBackend(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New:     func(t *testing.T, seed map[string]string) vfs.Backend { return indexed(t, seed) },
		Peer:    func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
	})
}

// The first search of a large store has an index made, and a small one never has
// one.
func TestWhenThereIsAnIndex(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  int64
		state string
	}{
		{"large", 10, "ready"},
		{"small", 11, "none"},
		{"by default", 0, "none"},
		{"never", -1, "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t, map[string]string{"/a": "1234567", "/b": "1"}, &memfs.Options{IndexFrom: tt.from})
			info, err := b.Write(t.Context(), "/c", "123456", "")
			if err == nil {
				_, err = b.Write(t.Context(), "/c", "12", info.Revision)
			}
			if err == nil { // what was removed does not count
				info, err = b.Write(t.Context(), "/gone", "123456789", "")
			}
			if err == nil {
				err = b.Remove(t.Context(), "/gone", info.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
			if st, err := b.IndexStatus(t.Context()); err != nil || st.State != "none" {
				t.Errorf("before a search: %+v", st)
			}
			if _, err := vfs.Search(t.Context(), b, "/", vfs.SearchOptions{Text: "1"}); err != nil {
				t.Fatal(err)
			}
			b.AwaitIndex()
			if st, err := b.IndexStatus(t.Context()); err != nil || st.State != tt.state {
				t.Errorf("after a search: %+v, want %s", st, tt.state)
			}
			page, err := vfs.Search(t.Context(), b, "/", vfs.SearchOptions{Text: "7"})
			want := 3 // a list
			if tt.state == "ready" {
				want = 1
			}
			if err != nil || len(page.Files) != want {
				t.Errorf("search: %d files, %v, want %d", len(page.Files), err, want)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
