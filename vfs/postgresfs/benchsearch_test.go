package postgresfs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
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
		if i%(n/20) == 7 {
			text += "\n// wherever herons nest\n"
		}
		files = append(files, vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/src/%03d/%05d.go", i%300, i), Revision: vfs.Revision(fmt.Sprintf("%012d", i))}, Content: text})
	}
	return files
}

// BenchmarkSearch measures what a model's search costs over many files of Go source,
// 20,000 of them, or 100,000 with GOLIATHFS_FULL: the first page of a grep with the
// default budget, its ratio to that of the same store when it lists and reads, and the
// calls that all matches take. "rare" stands in 20 files. It also tells what grams cost.
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
	with, without := grepper(b, s), grepper(b, scanned{s, s})
	for _, needle := range []struct {
		name, text string
		all        bool // its pages are few
	}{
		{"rare", "wherever herons nest", true},
		{"absent", "no heron was here", true},
		{"dense", "if err != nil {", false},
		{"punctuation", "!= {", false},
		{"one-letter", "q", false},
	} {
		b.Run(needle.name, func(b *testing.B) {
			var took, scan []float64
			for b.Loop() {
				took = append(took, timed(b, func() error { _, err := with(needle.text, ""); return err }))
				if len(scan) < 3 {
					scan = append(scan, timed(b, func() error { _, err := without(needle.text, ""); return err }))
				}
			}
			b.ReportMetric(median(took)/1000, "first-page-ms")
			b.ReportMetric(median(scan)/1000, "scan-ms")
			b.ReportMetric(median(took)/median(scan), "x-scan")
			if needle.all {
				b.ReportMetric(float64(calls(b, with, needle.text)), "calls")
				b.ReportMetric(float64(calls(b, without, needle.text)), "scan-calls")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// scanned is a store that is searched by listing and reading.
type scanned struct {
	vfs.Backend
	vfs.BatchReader
}

// grepper returns the tool grep, which returns the cursor of its next page.
func grepper(b *testing.B, backend vfs.Backend) func(text, cursor string) (next string, err error) {
	b.Helper()
	tools, err := agenttool.New(agenttool.Options{Backend: backend})
	if err != nil {
		b.Fatal(err)
	}
	return func(text, cursor string) (string, error) {
		args := map[string]string{"pattern": text}
		if cursor != "" {
			args["cursor"] = cursor
		}
		input, err := json.Marshal(args)
		if err != nil {
			return "", err
		}
		res, err := tools.Call(b.Context(), agenttool.Scope{}, agenttool.Grep, input)
		if err != nil {
			return "", err
		}
		return res.Output.Next(), nil
	}
}

// calls returns how many calls it takes to see all matches.
func calls(b *testing.B, grep func(text, cursor string) (string, error), text string) (n int) {
	b.Helper()
	for cursor := ""; ; {
		next, err := grep(text, cursor)
		if err != nil {
			b.Fatal(err)
		}
		n++
		if cursor = next; cursor == "" {
			return n
		}
	}
}
