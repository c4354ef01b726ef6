package layout_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// fill makes a store of two files, which stays open until the test has ended.
func fill(t testing.TB, dir string) {
	t.Helper()
	s, err := badgerfs.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for path, content := range map[string]string{"/a": "one", "/b": "two"} {
		if _, err := s.Write(t.Context(), path, content, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzLog requires the log reader to survive anything, and to read Badger's own
// log up to where it was altered.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	fill(f, dir)
	text, err := os.ReadFile(filepath.Join(dir, "badger", "00001.mem"))
	if err != nil {
		f.Fatal(err)
	}
	text = bytes.TrimRight(text, "\x00")
	f.Add(text)
	f.Add(append(bytes.Clone(text), make([]byte, 100)...))
	f.Add(text[:len(text)-1])
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "log")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		end, keys, values := layout.Entries(file)
		if end > max(20, int64(len(text))) {
			t.Errorf("the last entry ends at %d of %d", end, len(text))
		}
		size := 20
		for i := range keys {
			size += 5 + len(keys[i]) + 8 + len(values[i]) + 4
		}
		if int64(size) > end {
			t.Errorf("entries of %d bytes were read from %d", size, end)
		}
	})
}

// The reader must see in a log what Badger wrote there.
func TestReadLog(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	file, err := os.Open(filepath.Join(dir, "badger", "00001.mem"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, keys, values := layout.Entries(file)
	found := map[string]bool{}
	for i := range keys {
		found[keys[i]+" = "+values[i]] = true
	}
	for _, want := range []string{"t\x07default/a = one", "t\x07default/b = two", "#commits = \x00\x00\x00\x00\x00\x00\x00\x02"} {
		if !found[want] {
			t.Errorf("%q was not read", want)
		}
	}
}
