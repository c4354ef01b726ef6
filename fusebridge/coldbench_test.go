//go:build linux

package fusebridge_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// cold is a store that is looked at for the first time, with and without sending files
// ahead.
type cold struct {
	name  string
	store vfs.Backend
	opts  *fusebridge.Options
	took  []time.Duration
}

// BenchmarkCold compares the first look at a fresh mount with native ext4 whose page
// cache is warm: medians of rounds in which all take turns.
func BenchmarkCold(b *testing.B) {
	needFuse(b)
	files := benchFiles()
	native := b.TempDir()
	writeNative(b, native, files)
	stores := []struct {
		name  string
		store vfs.Backend
	}{{"memory", newMem(b, files)}, {"badger", badgerStore(b, files)}, {"sqlite", sqliteStore(b, files)}}
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "workload\tnative\tmemory\tbadger\tsqlite\twithout sending ahead:\tmemory\tbadger\tsqlite")
	for _, w := range workloads {
		if _, err := exec.LookPath(w.tool); err != nil {
			b.Logf("%s is left out, the program %s is not installed", w.name, w.tool)
			continue
		}
		b.Run(strings.ReplaceAll(w.name, " ", "_"), func(b *testing.B) {
			var targets []*cold
			for _, ahead := range []bool{true, false} {
				for _, s := range stores {
					targets = append(targets, &cold{s.name, s.store, &fusebridge.Options{NoStoreAhead: !ahead}, nil})
				}
			}
			var base []time.Duration
			work(b, w, native)
			for b.Loop() {
				base = append(base, work(b, w, native))
				for _, t := range targets {
					dir, end := openMount(b, t.store, t.opts)
					t.took = append(t.took, work(b, w, dir))
					end()
				}
			}
			fmt.Fprintf(tw, "%s\t%v", w.name, median(base).Round(10*time.Microsecond))
			for i, t := range targets {
				if i == len(stores) {
					fmt.Fprint(tw, "\t")
				}
				fmt.Fprintf(tw, "\t%.2f", float64(median(t.took))/float64(median(base)))
			}
			fmt.Fprintln(tw)
		})
	}
	tw.Flush()
	b.Logf("times of native, then ratios to it\n%s", text.String())
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func sqliteStore(b *testing.B, files map[string]string) vfs.Backend {
	store, err := sqlitefs.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), &sqlitefs.Options{Relaxed: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	for path, content := range files {
		if _, err := vfs.Write(b.Context(), store, path, content, ""); err != nil {
			b.Fatal(err)
		}
	}
	return store
}
