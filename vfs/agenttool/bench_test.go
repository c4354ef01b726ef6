package agenttool_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// corpus is 10,000 files of about 4.8 kB of English-like text, 48 MB in all,
// with the needle once in every 500th.
func corpus(needle string) map[string]string {
	words := strings.Fields(`the agent keeps notes in files and reads short excerpts of them when a question
		comes up so that a small window holds what matters while budget cursor revision garden water basil
		Tuesday summary token store page line search pattern result memory turn answer plan`)
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	for i := range 10000 {
		var b strings.Builder
		for b.Len() < 4800 {
			for range 8 + r.IntN(8) {
				b.WriteString(words[r.IntN(len(words))])
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		if i%500 == 250 {
			b.WriteString("here is " + needle + " once\n")
		}
		files[fmt.Sprintf("/d%02d/e%02d/f%05d.txt", i%37, i%11, i)] = b.String()
	}
	return files
}

const benchNeedle = "zyxwvuts"

// BenchmarkSearch compares full searches with default limits, following every
// cursor, with one bare strings.Index pass over the same contents.
func BenchmarkSearch(b *testing.B) {
	files := corpus(benchNeedle)
	store, err := memfs.New(files, nil)
	if err != nil {
		b.Fatal(err)
	}
	tools, err := agenttool.New(agenttool.Options{Backend: store})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			found := 0
			for _, content := range files {
				if strings.Index(content, benchNeedle) >= 0 {
					found++
				}
			}
			if found != 20 {
				b.Fatal(found)
			}
		}
	})
	grep := func(caseSensitive bool, needle string, want int) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, calls := 0, 0
				for cursor := ""; ; calls++ {
					out, err := run[*agenttool.GrepOutput](b, tools, agenttool.Grep, args{"pattern": needle, "ignoreCase": !caseSensitive, "cursor": cursor})
					if err != nil {
						b.Fatal(err)
					}
					found += len(out.Matches)
					if cursor = out.Next(); cursor == "" {
						break
					}
				}
				if found != want {
					b.Fatal(found)
				}
				b.ReportMetric(float64(calls+1), "calls")
			}
		}
	}
	b.Run("grep/case", grep(true, benchNeedle, 20))
	b.Run("grep/fold", grep(false, strings.ToUpper(benchNeedle), 20))
	b.Run("glob", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			found := 0
			for cursor := ""; ; {
				out, err := run[*agenttool.GlobOutput](b, tools, agenttool.Glob, args{"pattern": "/**/e03/*7.txt", "cursor": cursor})
				if err != nil {
					b.Fatal(err)
				}
				found += len(out.Matches)
				if cursor = out.Next(); cursor == "" {
					break
				}
			}
			if found != 91 {
				b.Fatal(found)
			}
		}
	})
}

// BenchmarkCall tells the allocations of one call of each tool.
func BenchmarkCall(b *testing.B) {
	store, err := memfs.New(corpus(benchNeedle), nil)
	if err != nil {
		b.Fatal(err)
	}
	tools, err := agenttool.New(agenttool.Options{Backend: store, Writable: true})
	if err != nil {
		b.Fatal(err)
	}
	inputs := []struct{ tool, json string }{
		{agenttool.Glob, `{"pattern":"/d01/**/*.txt"}`},
		{agenttool.Grep, `{"pattern":"tuesday","path":"/d01"}`},
		{agenttool.ReadFile, `{"path":"/d00/e00/f00000.txt"}`},
	}
	for _, in := range inputs {
		b.Run(in.tool, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools.Call(b.Context(), agenttool.Scope{}, in.tool, []byte(in.json)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("write+edit+delete", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, err := run[*agenttool.WriteOutput](b, tools, agenttool.WriteFile, args{"path": "/new.txt", "content": "one two"})
			if err != nil {
				b.Fatal(err)
			}
			e, err := run[*agenttool.WriteOutput](b, tools, agenttool.EditFile, args{"path": "/new.txt", "revision": w.Revision, "oldText": "one", "newText": "1"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := run[*agenttool.DeleteOutput](b, tools, agenttool.DeleteFile, args{"path": "/new.txt", "revision": e.Revision}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
