package journalfs_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// BenchmarkWrite compares writes of 4 KiB, on disk when they return, to a store alone
// with those to the same store with a journal behind it.
func BenchmarkWrite(b *testing.B) {
	stores := map[string]func(dir string) (vfs.Backend, error){
		"badger": func(dir string) (vfs.Backend, error) { return badgerfs.Open(b.Context(), dir, nil) },
		"sqlite": func(dir string) (vfs.Backend, error) {
			return sqlitefs.Open(b.Context(), filepath.Join(dir, "agent.db"), nil)
		},
	}
	for _, store := range []string{"badger", "sqlite"} {
		for _, what := range []string{"new files", "one file"} {
			for _, with := range []string{"alone", "journal"} {
				b.Run(store+"/"+what+"/"+with, func(b *testing.B) {
					inside, err := stores[store](b.TempDir())
					if err != nil {
						b.Fatal(err)
					}
					defer vfs.Inner{Backend: inside}.Close()
					s := inside
					if with == "journal" {
						s = wrap(b, inside, open(b, filepath.Join(b.TempDir(), "journal"), nil))
					}
					content := strings.Repeat("0123456789abcde\n", 256)
					var rev vfs.Revision
					for n := 0; b.Loop(); n++ {
						path := "/one"
						if what == "new files" {
							path, rev = fmt.Sprintf("/f%d", n), ""
						}
						info, err := vfs.Write(b.Context(), s, path, content, rev)
						if err != nil {
							b.Fatal(err)
						}
						rev = info.Revision
					}
				})
			}
		}
	}
}

// BenchmarkOpen opens the newest moment, one in the middle by its time and one by its
// revision in a journal of a million revisions, and lists the first files of it.
func BenchmarkOpen(b *testing.B) {
	for _, files := range []int{1_000, 1_000_000} {
		name := filepath.Join(b.TempDir(), "journal")
		middle := million(b, name, files)
		for what, m := range map[string]journalfs.Moment{"newest": {}, "time": {Time: middle.Time}, "revision": {Revision: middle.Revision}} {
			b.Run(fmt.Sprintf("files=%d/%s", files, what), func(b *testing.B) {
				for b.Loop() {
					h, err := journalfs.OpenHistory(name)
					if err != nil {
						b.Fatal(err)
					}
					s, err := h.At(b.Context(), m)
					if err == nil {
						_, err = s.List(b.Context(), "/", vfs.ListOptions{})
					}
					if err != nil {
						b.Fatal(err)
					}
					h.Close()
				}
			})
		}
	}
}

// million writes a journal of a million revisions of as many files as it is told, and
// returns the one in the middle.
func million(b *testing.B, name string, files int) journalfs.Entry {
	b.Helper()
	const revisions = 1_000_000
	j := open(b, name, &journalfs.Options{Relaxed: true, MaxBytes: -1})
	inside := memory(b, nil)
	s := wrap(b, inside, j)
	revs := make([]vfs.Revision, files)
	var middle journalfs.Entry
	for n := range revisions {
		path := fmt.Sprintf("/notes/%03d/file-%d.md", n%files/1000, n%files)
		info, err := s.Write(b.Context(), path, fmt.Sprintf("revision %d\n%s", n, strings.Repeat("text ", 40)), revs[n%files])
		if err != nil {
			b.Fatal(err)
		}
		revs[n%files] = info.Revision
		if n == revisions/2 {
			middle = journalfs.Entry{Revision: info.Revision, Time: info.ModTime}
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return middle
}
