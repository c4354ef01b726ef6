package stores_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// BenchmarkBatch reads 10,000 files of 2 to 8 KiB in 350 directories, in order: each by
// itself, and many at once.
func BenchmarkBatch(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			store := open(b, kind, b.TempDir(), options{Relaxed: true})
			var paths []string
			for i := range 10_000 {
				path := fmt.Sprintf("/dir%03d/file%05d.go", i/29, i)
				if _, err := vfs.Write(b.Context(), store, path, strings.Repeat("package x // text\n", 110+i%340), ""); err != nil {
					b.Fatal(err)
				}
				paths = append(paths, path)
			}
			b.Run("read", func(b *testing.B) {
				for b.Loop() {
					for _, path := range paths {
						if _, err := vfs.Read(b.Context(), store, path); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run("each", func(b *testing.B) {
				for b.Loop() {
					for _, err := range batchread.Files(b.Context(), store, paths) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		})
	}
}
