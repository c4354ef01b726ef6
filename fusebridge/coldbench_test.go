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

	"golang.org/x/sys/unix"

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
	spent []time.Duration // by the processors, see spend
}

// spend runs a workload once and returns how long it took, and how long the processors
// worked for it: for the tool, and for this process, which serves the mount. On a machine
// with other load that says more than the clock.
func spend(b *testing.B, w workload, dir string) (took, spent time.Duration) {
	b.Helper()
	before := processors(b)
	took = work(b, w, dir)
	return took, processors(b) - before
}

// processors returns how long the processors have worked for this process, and for its
// children that have ended.
func processors(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if err := unix.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
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
					targets = append(targets, &cold{s.name, s.store, &fusebridge.Options{NoStoreAhead: !ahead}, nil, nil})
				}
			}
			base := &cold{}
			work(b, w, native)
			for b.Loop() {
				base.add(spend(b, w, native))
				for _, t := range targets {
					dir, end := openMount(b, t.store, t.opts)
					t.add(spend(b, w, dir))
					end()
				}
			}
			fmt.Fprintf(tw, "%s\t%v", w.name, median(base.took).Round(10*time.Microsecond))
			for i, t := range targets {
				if i == len(stores) {
					fmt.Fprint(tw, "\t")
				}
				fmt.Fprintf(tw, "\t%.2f %.2f", ratio(t.took, base.took), ratio(t.spent, base.spent))
			}
			fmt.Fprintln(tw)
		})
	}
	tw.Flush()
	b.Logf("times of native, then ratios to it: by the clock, and of the processors' time\n%s", text.String())
}

func (c *cold) add(took, spent time.Duration) {
	c.took, c.spent = append(c.took, took), append(c.spent, spent)
}

func ratio(a, b []time.Duration) float64 { return float64(median(a)) / float64(median(b)) }

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
