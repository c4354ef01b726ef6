package postgresfs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
)

// source returns Go files of the toolchain, again under other paths until there are
// enough.
func source(b *testing.B, n int) []vfs.File {
	b.Helper()
	var texts []string
	err := filepath.WalkDir(filepath.Join(runtime.GOROOT(), "src"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && len(texts) < n && filepath.Ext(name) == ".go" {
			if text, err := os.ReadFile(name); err == nil && len(text) < 20_000 {
				texts = append(texts, string(bytes.ToValidUTF8(text, nil)))
			}
		}
		return err
	})
	if err != nil || len(texts) == 0 {
		b.Skipf("the toolchain has no sources here: %v", err)
	}
	var files []vfs.File
	for i := range n {
		text := texts[i%len(texts)]
		if i%(n/4) == 7 {
			text += "\n// wherever herons nest\n"
		}
		files = append(files, vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/src/%03d/%05d.go", i%300, i), Revision: vfs.Revision(fmt.Sprintf("%012d", i))}, Content: text})
	}
	return files
}

// BenchmarkSearch measures the first page of searches over many files of Go source,
// 20,000 of them, or 100,000 with GOLIATHFS_FULL, and what grams cost. The baseline is
// what a program without an index reads: every content, once.
func BenchmarkSearch(b *testing.B) {
	url := database(b)
	s := open(b, url, nil)
	files := source(b, testsize.Pick(2000, 20_000, 100_000))
	begun := time.Now()
	if err := s.Restore(b.Context(), files); err != nil {
		b.Fatal(err)
	}
	restored := time.Since(begun)
	before, err := s.DiskUse(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	begun = time.Now()
	search(b, s, "/", "this starts the job", false, 0)
	s.AwaitGrams()
	indexed := time.Since(begun)
	after, err := s.DiskUse(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d files restored in %v, indexed in %v; tables %d MB, with grams %d MB", len(files), restored, indexed, before>>20, after>>20)
	run(b, connect(b, url), "vacuum analyze")
	begun = time.Now()
	for _, err := range s.Snapshot(b.Context()) {
		if err != nil {
			b.Fatal(err)
		}
	}
	scan := time.Since(begun)
	for name, text := range map[string]string{"rare": "wherever herons nest", "nowhere": "no heron was here", "dense": "if err != nil {", "punctuation": "!= {", "one letter": "q"} {
		b.Run(name, func(b *testing.B) {
			var took []float64
			files := 0
			for b.Loop() {
				took = append(took, timed(b, func() error {
					page, err := vfs.Search(b.Context(), s, "/", vfs.SearchOptions{Text: text, Fold: true, ListOptions: vfs.ListOptions{Limit: 16}})
					files = len(page.Files)
					return err
				}))
			}
			all, pages := search(b, s, "/", text, true, 256)
			b.ReportMetric(median(took)/1000, "first-page-ms")
			b.ReportMetric(median(took)/1000/(float64(scan)/1e6), "page/scan")
			b.ReportMetric(float64(files), "on-page")
			b.ReportMetric(float64(len(all)), "candidates")
			b.ReportMetric(float64(pages), "pages")
			b.ReportMetric(0, "ns/op")
		})
	}
}
