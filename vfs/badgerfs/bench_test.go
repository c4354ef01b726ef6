package badgerfs_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

var content4K = strings.Repeat("0123456789abcde\n", 256)

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
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							if _, err := s.Write(b.Context(), fmt.Sprintf("/f%09d", n), content4K, ""); err != nil {
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
