package stores_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// kept is what the benchmark does with files, in a store or without one.
type kept interface {
	write(path, content string) error   // a new file
	edit(path, old, fresh string) error // replaces one word
	read(path string) error
	stat(path string) error
	page(after string) error            // 64 files and their metadata
	grep(needle string) (int, error)    // files that hold it, of all
	copyOut(dst *memfs.FS) (int, error) // all files; returns their number
}

const (
	benchFiles = 500     // that a store holds
	needle     = "heron" // in every 50th
)

// corpusPath is the i-th of the files that are read, stat'ed and edited.
func corpusPath(i int) string { return fmt.Sprintf("/corpus/%02d/file-%05d.md", i/25, i) }

// corpusText is what the i-th file holds: 4 KiB of text with a word to edit.
func corpusText(i int) string {
	line := fmt.Sprintf("line of file %05d that an agent wrote down\n", i)
	text := "edit 0.\n" + strings.Repeat(line, 4096/len(line))
	if i%50 == 7 {
		text += needle + "\n"
	}
	return text
}

// operation is one thing that is measured.
type operation struct {
	name   string
	times  int  // that it is done at once, so that reading the clock costs nothing
	writes bool // so that durable and relaxed stores differ
	scans  bool // so that a bare loop could do it in one query
	do     func(k kept, n int) error
}

// operations are measured in this order; texts are those of the corpus.
func operations(texts []string) []operation {
	return []operation{
		{"write", 20, true, false, func(k kept, n int) error { return k.write(fmt.Sprintf("/new/%d/%d.md", n/100, n), texts[n%benchFiles]) }},
		{"edit", 20, true, false, func(k kept, n int) error {
			round := n / benchFiles // each file is edited once a round
			return k.edit(corpusPath(n%benchFiles), fmt.Sprintf("edit %d.", round), fmt.Sprintf("edit %d.", round+1))
		}},
		{"copy-in", 1, true, false, func(k kept, n int) error { return copyIn(k, texts, fmt.Sprintf("/in/%d", n)) }},
		{"read", 200, false, false, func(k kept, n int) error { return k.read(corpusPath(n * 7 % benchFiles)) }},
		{"stat", 200, false, false, func(k kept, n int) error { return k.stat(corpusPath(n * 7 % benchFiles)) }},
		{"list-page", 20, false, false, func(k kept, n int) error { return k.page(corpusPath(n * 7 % (benchFiles - 70))) }},
		{"grep", 1, false, true, func(k kept, n int) error { return expect(benchFiles / 50)(k.grep(needle)) }},
		{"copy-out", 1, false, true, func(k kept, n int) error {
			dst, err := memfs.New(nil, nil)
			if err != nil {
				return err
			}
			return expect(benchFiles)(k.copyOut(dst))
		}},
	}
}

// copyIn writes the corpus to below prefix.
func copyIn(k kept, texts []string, prefix string) error {
	for i, text := range texts {
		if err := k.write(prefix+corpusPath(i), text); err != nil {
			return err
		}
	}
	return nil
}

func expect(want int) func(got int, err error) error {
	return func(got int, err error) error {
		if err == nil && got != want {
			err = fmt.Errorf("%d files, want %d", got, want)
		}
		return err
	}
}

// BenchmarkStores compares each store with a bare SQL loop, which has the same
// driver, table and durability, and with plain files, which are written beside
// their place, synced, renamed, and their folder synced; for relaxed stores
// nothing is synced. They take turns, so that other load on the machine meets
// them alike. The ratios are the result: x-sql is the time of the store divided by
// that of the loop, x-files by that of the files, and x-scan by that of one query
// for everything, where the loop asks file by file as the store has to.
func BenchmarkStores(b *testing.B) {
	texts := make([]string, benchFiles)
	for i := range texts {
		texts[i] = corpusText(i)
	}
	for _, op := range operations(texts) {
		b.Run(op.name+"/memory", func(b *testing.B) { compare(b, op, texts, "memory", true) })
		for _, kind := range kinds {
			if !op.writes {
				b.Run(op.name+"/"+kind, func(b *testing.B) { compare(b, op, texts, kind, false) })
				continue
			}
			b.Run(op.name+"/"+kind+"-durable", func(b *testing.B) { compare(b, op, texts, kind, false) })
			b.Run(op.name+"/"+kind+"-relaxed", func(b *testing.B) { compare(b, op, texts, kind, true) })
		}
	}
}

// compare measures one operation on a store and on what it is compared with.
func compare(b *testing.B, op operation, texts []string, kind string, relaxed bool) {
	all := []kept{newBackend(b, kind, relaxed), newLoop(b, relaxed), newFolder(b, relaxed)}
	units := []string{"", "x-sql", "x-files"}
	if op.scans {
		all, units = append(all, scan{newLoop(b, relaxed)}), append(units, "x-scan")
	}
	for _, k := range all {
		if err := copyIn(k, texts, ""); err != nil {
			b.Fatal(err)
		}
	}
	spent := make([]time.Duration, len(all))
	n := 0
	for b.Loop() {
		for i, k := range all {
			begun := time.Now()
			for m := range op.times {
				if err := op.do(k, n+m); err != nil {
					b.Fatal(err)
				}
			}
			spent[i] += time.Since(begun)
		}
		n += op.times
	}
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(n), "ns/op")
	for i := 1; i < len(all); i++ {
		b.ReportMetric(float64(spent[0])/float64(spent[i]), units[i])
	}
}
