package journalfs_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// BenchmarkWrite writes 4 KiB, on disk when the write returns, by turns to a store alone
// and to one like it with a journal behind it, so that what else the disk does falls on
// both. The metric with/alone is how many times as long the second takes, by the sums of
// all but the longest tenth of each.
func BenchmarkWrite(b *testing.B) {
	stores := map[string]func(dir string) (vfs.Backend, error){
		"badger": func(dir string) (vfs.Backend, error) { return badgerfs.Open(b.Context(), dir, nil) },
		"sqlite": func(dir string) (vfs.Backend, error) {
			return sqlitefs.Open(b.Context(), filepath.Join(dir, "agent.db"), nil)
		},
	}
	for _, store := range []string{"badger", "sqlite"} {
		for _, what := range []string{"new files", "one file"} {
			b.Run(store+"/"+what, func(b *testing.B) {
				var sides [2]vfs.Backend
				for i := range sides {
					inside, err := stores[store](b.TempDir())
					if err != nil {
						b.Fatal(err)
					}
					defer vfs.Inner{Backend: inside}.Close()
					sides[i] = inside
				}
				sides[1] = wrap(b, sides[1], open(b, filepath.Join(b.TempDir(), "journal"), nil))
				var took [2][]time.Duration
				var revs [2]vfs.Revision
				content := strings.Repeat("0123456789abcde\n", 256)
				for n := 0; b.Loop(); n++ {
					for i := range sides {
						path := "/one"
						if what == "new files" {
							path, revs[i] = fmt.Sprintf("/f%d", n), ""
						}
						begin := time.Now()
						info, err := vfs.Write(b.Context(), sides[i], path, content, revs[i])
						if err != nil {
							b.Fatal(err)
						}
						took[i], revs[i] = append(took[i], time.Since(begin)), info.Revision
					}
				}
				b.ReportMetric(usual(took[1])/usual(took[0]), "with/alone")
			})
		}
	}
}

// usual is the sum of all but the longest tenth.
func usual(took []time.Duration) (sum float64) {
	slices.Sort(took)
	for _, d := range took[:max(1, len(took)*9/10)] {
		sum += d.Seconds()
	}
	return sum
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
	inside := teststore.Memory(b, nil)
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
