package stores_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

var searchFiles = flag.Int("searchfiles", 2000, "files of 2 to 8 KB that BenchmarkSearch searches; the figures in docs/search.md are of 100000")

// A haystack is the files of a benchmark of searches.
type haystack struct {
	name string
	text func(i int) string // of file i
}

// rareNeedle stands in 20 files of prose, one occurrence each.
const rareNeedle = "zyxwvuts"

// prose has words whose frequencies are those of a language: the n-th most common
// one is n times as rare as the first.
func prose(r *rand.Rand) haystack {
	const vocabulary = 20_000
	words := make([]string, vocabulary)
	for i := range words {
		for range 2 + r.IntN(3) {
			words[i] += string("bcdfghjklmnprstvw"[r.IntN(17)]) + string("aeiou"[r.IntN(5)])
		}
	}
	copy(words, []string{"the", "of", "and", "plan", "to", "in", "notes", "a", "is", "it"})
	return haystack{"prose", func(i int) string {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		size := 2000 + r.IntN(6000)
		var b strings.Builder
		for b.Len() < size {
			for range 6 + r.IntN(8) {
				b.WriteString(words[int(math.Exp(r.Float64()*math.Log(vocabulary)))-1])
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		if i%max(1, *searchFiles/20) == 7 && i/max(1, *searchFiles/20) < 20 {
			b.WriteString("here is " + rareNeedle + " once\n")
		}
		return b.String()
	}}
}

// cjk is prose of another vocabulary: words of one to three characters of 4,000,
// written without blanks.
func cjk(r *rand.Rand) haystack {
	words := make([]string, 20_000)
	for i := range words {
		for range 1 + r.IntN(3) {
			words[i] += string(rune(0x4E00 + r.IntN(4000)))
		}
	}
	return haystack{"cjk", func(i int) string {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		size := 2000 + r.IntN(6000)
		var b strings.Builder
		for b.Len() < size {
			for range 8 + r.IntN(10) {
				b.WriteString(words[int(math.Exp(r.Float64()*math.Log(float64(len(words)))))-1])
			}
			b.WriteString("。\n")
		}
		return b.String()
	}}
}

// code is Go's own source, in pieces of 2 to 8 KB, again and again.
func code(b *testing.B) haystack {
	b.Helper()
	goroot, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("the go command is not there: %v", err)
	}
	root := os.DirFS(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	var pieces []string
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(pieces) >= *searchFiles || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := fs.ReadFile(root, path)
		if !utf8.Valid(data) {
			return err
		}
		r := rand.New(rand.NewPCG(uint64(len(pieces)), 5))
		for text := string(data); text != "" && err == nil; {
			n := min(len(text), 2000+r.IntN(6000))
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
			pieces = append(pieces, text[:n])
			text = text[n:]
		}
		return err
	})
	if err != nil || len(pieces) == 0 {
		b.Skipf("Go's source is not there: %v", err)
	}
	return haystack{"code", func(i int) string { return pieces[i%len(pieces)] }}
}

func (h haystack) path(i int) string { return fmt.Sprintf("/d%02d/e%02d/f%06d.txt", i%37, i%11, i) }

// fill writes the files and returns how many bytes they have.
func (h haystack) fill(b *testing.B, s searched) (bytes int64) {
	b.Helper()
	for i := range *searchFiles {
		text := h.text(i)
		bytes += int64(len(text))
		if _, err := s.Write(b.Context(), h.path(i), text, ""); err != nil {
			b.Fatal(err)
		}
	}
	return bytes
}

// pager greps as a model does: with the default budget.
type pager struct {
	ctx   context.Context // of the benchmark
	tools *agenttool.Toolset
}

func newPager(b *testing.B, s vfs.Backend) pager {
	b.Helper()
	tools, err := agenttool.New(agenttool.Options{Backend: s})
	if err != nil {
		b.Fatal(err)
	}
	return pager{b.Context(), tools}
}

// page returns the matches of a page and the cursor of the next one.
func (p pager) page(needle, cursor string) (matches int, next string, err error) {
	args := map[string]any{"pattern": needle}
	if cursor != "" {
		args["cursor"] = cursor
	}
	input, err := json.Marshal(args)
	if err != nil {
		return 0, "", err
	}
	res, err := p.tools.Call(p.ctx, agenttool.Scope{}, agenttool.Grep, input)
	if err != nil {
		return 0, "", err
	}
	return len(res.Output.(*agenttool.GrepOutput).Matches), res.Output.Next(), nil
}

// all follows the pages to the end.
func (p pager) all(needle string) (matches, calls int, err error) {
	for cursor := ""; ; {
		n, next, err := p.page(needle, cursor)
		if err != nil {
			return matches, calls, err
		}
		matches, calls = matches+n, calls+1
		if cursor = next; cursor == "" {
			return matches, calls, nil
		}
	}
}

// BenchmarkSearch measures what a model's search costs with an index: the first page
// and, as x-scan, its ratio to the first page of the same store without its index;
// calls are what 20 matches take. It also tells what an index takes: bytes for each
// byte of content, memory for each, the time to make it, with its ratio to that of
// one search through all files without an index, and what a write costs, as x-unindexed its ratio to a write of a
// store without one.
func BenchmarkSearch(b *testing.B) {
	for _, kind := range searchedKinds {
		b.Run(kind, func(b *testing.B) {
			b.Run("prose", func(b *testing.B) { benchHaystack(b, kind, prose(rand.New(rand.NewPCG(1, 2)))) })
			if kind == "memory" { // what is in the files matters alike to all stores
				b.Run("code", func(b *testing.B) { benchHaystack(b, kind, code(b)) })
				b.Run("cjk", func(b *testing.B) { benchHaystack(b, kind, cjk(rand.New(rand.NewPCG(1, 6)))) })
			}
		})
	}
}

// needles are those of each haystack.
var needles = map[string]map[string]string{
	"prose": {"rare": rareNeedle, "absent": "qqxqzq", "1-char": "q", "2-chars": "zy", "3-chars": "yxw", "everywhere": "e", "common-words": "the of and the plan to the"},
	"code":  {"rare": "unreachableMethod", "absent": "qqxqzqj", "everywhere": "e", "common-words": "if err != nil { return nil, err } else"},
	"cjk":   {"absent": "龘龘龘", "2-chars": "一丁", "everywhere": "。"},
}

func benchHaystack(b *testing.B, kind string, h haystack) {
	s := openSearched(b, kind, -1)
	content := h.fill(b, s)
	before := held()
	begun := time.Now()
	if err := s.BuildIndex(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	made, memory := time.Since(begun), held()-before
	begun = time.Now()
	if _, _, err := newPager(b, scanned{s}).all(needles[h.name]["absent"]); err != nil {
		b.Fatal(err)
	}
	scan := time.Since(begun)
	st, err := s.IndexStatus(b.Context())
	if err != nil || st.State != "ready" {
		b.Fatalf("%+v, %v", st, err)
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(made.Microseconds())/float64(*searchFiles), "µs/file")
		b.ReportMetric(float64(made)/float64(scan), "x-scan")
		b.ReportMetric(float64(st.Bytes)/float64(content), "B/B")
		b.ReportMetric(float64(memory)/float64(content), "held-B/B")
	})
	ways := map[string]vfs.Backend{"bare": s, "socket": served(b, s)}
	for _, name := range []string{"bare", "socket"} {
		with, without := newPager(b, ways[name]), newPager(b, scanned{ways[name]})
		for what, needle := range needles[h.name] {
			b.Run(what+"/"+name, func(b *testing.B) { benchNeedle(b, what, needle, with, without) })
		}
	}
	if h.name == "prose" {
		b.Run("write", func(b *testing.B) { benchIndexedWrites(b, kind) })
	}
}

func benchNeedle(b *testing.B, what, needle string, with, without pager) {
	begun := time.Now()
	scans := 0
	for scans < 1 || time.Since(begun) < 200*time.Millisecond && scans < 100 {
		if _, _, err := without.page(needle, ""); err != nil {
			b.Fatal(err)
		}
		scans++
	}
	scan := float64(time.Since(begun).Nanoseconds()) / float64(scans)
	for b.Loop() {
		if _, _, err := with.page(needle, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/scan, "x-scan")
	if what == "rare" || what == "absent" {
		matches, calls, err := with.all(needle)
		if err != nil || what == "absent" && matches > 0 || needle == rareNeedle && *searchFiles >= 200 && matches != 20 {
			b.Fatalf("%d matches, %v", matches, err)
		}
		b.ReportMetric(float64(calls), "calls")
	}
}

// benchIndexedWrites makes files in a store with an index and in one without by
// turns, each store as durable as it is by default, and compares the medians.
func benchIndexedWrites(b *testing.B, kind string) {
	text := strings.Repeat("what an agent writes into a file, line by line\n", 100)
	var stores []searched
	for range 2 {
		var s searched
		if kind == "memory" {
			s = openSearched(b, kind, -1)
		} else {
			s = open(b, kind, b.TempDir(), options{IndexFrom: -1}).(searched)
		}
		for i := range 500 {
			if _, err := s.Write(b.Context(), fmt.Sprintf("/before/%d", i), text, ""); err != nil {
				b.Fatal(err)
			}
		}
		stores = append(stores, s)
	}
	if err := stores[0].BuildIndex(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	spent := make([][]time.Duration, 2)
	n := 0
	for b.Loop() {
		for i, s := range stores {
			begun := time.Now()
			if _, err := s.Write(b.Context(), fmt.Sprintf("/written/%d", n), text, ""); err != nil {
				b.Fatal(err)
			}
			spent[i] = append(spent[i], time.Since(begun))
		}
		n++
	}
	with, without := median(spent[0]), median(spent[1])
	b.ReportMetric(float64(with.Nanoseconds()), "ns/op")
	b.ReportMetric(float64(with)/float64(without), "x-unindexed")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// held returns the bytes of the heap that are in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
