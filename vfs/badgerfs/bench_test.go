package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

var content4K = strings.Repeat("0123456789abcde\n", 256)

// BenchmarkFile compares operations on files of 4 KiB with plain files, which
// are written to a temporary name, synced, renamed, and their directory synced.
func BenchmarkFile(b *testing.B) {
	for _, store := range []struct {
		name string
		open func(b *testing.B) files
	}{
		{"plain/sync", func(b *testing.B) files { return &plain{dir: b.TempDir(), sync: true} }},
		{"badger/sync", func(b *testing.B) files { return badgerFiles{open(b, b.TempDir(), nil)} }},
		{"plain/relaxed", func(b *testing.B) files { return &plain{dir: b.TempDir()} }},
		{"badger/relaxed", func(b *testing.B) files {
			return badgerFiles{open(b, b.TempDir(), &badgerfs.Options{Relaxed: true})}
		}},
	} {
		b.Run(store.name, func(b *testing.B) {
			b.Run("write", func(b *testing.B) {
				s := store.open(b)
				for n := 0; b.Loop(); n++ {
					fatal(b, s.write(name(n), content4K))
				}
			})
			s := store.open(b)
			const count = 500
			for n := range count {
				fatal(b, s.write(name(n), content4K))
			}
			b.Run("edit", func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					fatal(b, s.edit(name(n%count)))
				}
			})
			b.Run("read", func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					fatal(b, s.read(name(n%count)))
				}
			})
			b.Run("stat", func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					fatal(b, s.stat(name(n%count)))
				}
			})
			b.Run("list500", func(b *testing.B) {
				for b.Loop() {
					fatal(b, s.list())
				}
			})
		})
	}
}

func name(n int) string { return fmt.Sprintf("/f%09d", n) }

func fatal(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// files is what BenchmarkFile measures.
type files interface {
	write(path, content string) error // a new file
	edit(path string) error           // read, change, and replace
	read(path string) error
	stat(path string) error
	list() error // all, with their metadata
}

// ctx never ends.
var ctx = context.Background()

type badgerFiles struct{ s *badgerfs.FS }

func (f badgerFiles) write(path, content string) error {
	_, err := f.s.Write(ctx, path, content, "")
	return err
}

func (f badgerFiles) edit(path string) error {
	old, err := f.s.Read(ctx, path)
	if err == nil {
		_, err = f.s.Write(ctx, path, "!"+old.Content[1:], old.Revision)
	}
	return err
}

func (f badgerFiles) read(path string) error { _, err := f.s.Read(ctx, path); return err }
func (f badgerFiles) stat(path string) error { _, err := f.s.Stat(ctx, path); return err }

func (f badgerFiles) list() error {
	for _, err := range walk.Files(ctx, f.s, "/") {
		if err != nil {
			return err
		}
	}
	return nil
}

// plain is a directory of the host.
type plain struct {
	dir  string
	sync bool
}

func (f *plain) write(path, content string) error {
	tmp := filepath.Join(f.dir, "tmp")
	file, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	if f.sync {
		err = errors.Join(err, file.Sync())
	}
	if err := errors.Join(err, file.Close(), os.Rename(tmp, f.dir+path)); err != nil || !f.sync {
		return err
	}
	d, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (f *plain) edit(path string) error {
	old, err := os.ReadFile(f.dir + path)
	if err != nil {
		return err
	}
	return f.write(path, "!"+string(old[1:]))
}

func (f *plain) read(path string) error { _, err := os.ReadFile(f.dir + path); return err }
func (f *plain) stat(path string) error { _, err := os.Lstat(f.dir + path); return err }

func (f *plain) list() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := e.Info(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkWriters measures what a group commit is worth: writes a second of
// new 4 KiB files by one writer and by sixteen.
func BenchmarkWriters(b *testing.B) {
	for _, relaxed := range []bool{false, true} {
		for _, writers := range []int{1, 16} {
			b.Run(fmt.Sprintf("relaxed=%v/writers=%d", relaxed, writers), func(b *testing.B) {
				s := open(b, b.TempDir(), &badgerfs.Options{Relaxed: relaxed})
				var next atomic.Int64
				var wg sync.WaitGroup
				b.ResetTimer()
				for range writers {
					wg.Go(func() {
						for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
							if _, err := s.Write(b.Context(), name(n), content4K, ""); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			})
		}
	}
}

// fill writes count small files in one directory.
func fill(b *testing.B, s *badgerfs.FS, count int) {
	b.Helper()
	writes := make([]badgerfs.Write, 1000)
	for first := 0; first < count; first += len(writes) {
		for i := range writes {
			writes[i] = badgerfs.Write{Path: fmt.Sprintf("/dir%03d/file%07d.md", first/10000, first+i), Content: "# small\n"}
		}
		for _, r := range s.WriteAll(b.Context(), writes) {
			fatal(b, r.Err)
		}
	}
}

// BenchmarkPage compares a page of 64 at the end of a million files with one at
// the start of a thousand, the time to open such a store, and reads in it.
func BenchmarkPage(b *testing.B) {
	for _, count := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			dir := b.TempDir()
			s := open(b, dir, &badgerfs.Options{Relaxed: true})
			fill(b, s, count)
			fatal(b, s.Compact(b.Context())) // else Badger merges tables meanwhile, and takes the processor
			first, last := "", fmt.Sprintf("/dir%03d/file%07d.md", (count-70)/10000, count-70)
			page := func(after string) func(b *testing.B) {
				return func(b *testing.B) {
					for b.Loop() {
						p, err := s.List(b.Context(), "/", vfs.ListOptions{After: after})
						fatal(b, err)
						if len(p.Files) != 64 {
							b.Fatalf("%d files on the page", len(p.Files))
						}
					}
				}
			}
			b.Run("start", page(first))
			b.Run("end", page(last))
			b.Run("stat", func(b *testing.B) {
				for b.Loop() {
					_, err := s.Stat(b.Context(), last)
					fatal(b, err)
				}
			})
			fatal(b, s.Close())
			b.Run("open", func(b *testing.B) {
				for b.Loop() {
					s, err := badgerfs.Open(b.Context(), dir, nil)
					fatal(b, err)
					b.StopTimer()
					fatal(b, s.Close())
					b.StartTimer()
				}
			})
		})
	}
}
