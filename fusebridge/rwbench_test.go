//go:build linux

package fusebridge_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// BenchmarkWritable compares a writable mount that was looked at before with native ext4,
// in rounds that take turns, and tells what the kernel still asks for in one pass.
func BenchmarkWritable(b *testing.B) { benchWritable(b, false) }

// BenchmarkWritableAfterChange does so where the agent overwrites a file before each look.
func BenchmarkWritableAfterChange(b *testing.B) { benchWritable(b, true) }

func benchWritable(b *testing.B, change bool) {
	needFuse(b)
	files := benchFiles()
	native := b.TempDir()
	writeNative(b, native, files)
	mem := newMem(b, files)
	s := mount(b, mem, writable(b))
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "workload\tnative\tbest\tmedian\tprocessors\trequests of a pass")
	for _, w := range workloads {
		if _, err := exec.LookPath(w.tool); err != nil {
			b.Logf("%s is left out, the program %s is not installed", w.name, w.tool)
			continue
		}
		b.Run(strings.ReplaceAll(w.name, " ", "_"), func(b *testing.B) {
			for _, dir := range []string{native, s.Dir()} {
				work(b, w, dir) // warms
			}
			base, ours := &cold{}, &cold{}
			before := s.Counters()
			passes := 0
			for b.Loop() {
				if change {
					write(b, mem, "/texts/d00/e0/note-0000.md", body(passes, 100))
				}
				base.add(spend(b, w, native))
				ours.add(spend(b, w, s.Dir()))
				passes++
			}
			b.ReportMetric(float64(best(ours.took))/float64(best(base.took)), "rw/native")
			fmt.Fprintf(tw, "%s\t%v\t%.2f\t%.2f\t%.2f\t%s\n", w.name, median(base.took).Round(10*time.Microsecond),
				float64(best(ours.took))/float64(best(base.took)), ratio(ours.took, base.took), ratio(ours.spent, base.spent),
				requestsOf(before, s.Counters(), passes))
		})
	}
	tw.Flush()
	b.Logf("times of native, then ratios to it\n%s", text.String())
}

// requestsOf says what the kernel asked for between two counts, in one of so many passes.
func requestsOf(before, after fusebridge.Counters, passes int) string {
	var asked []string
	for _, kind := range slices.Sorted(maps.Keys(after.Requests)) {
		if n := int(after.Requests[kind]-before.Requests[kind]) / passes; n > 0 {
			asked = append(asked, fmt.Sprintf("%s %d", kind, n))
		}
	}
	return strings.Join(asked, ", ")
}
