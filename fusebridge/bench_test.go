//go:build linux

package fusebridge_test

import (
	"fmt"
	"math/rand/v2"
	"os"
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
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// workload is a real program's work on a directory, run in a shell there.
type workload struct {
	name, tool, script string
	most               float64 // times native warm ext4 at most, 0 where nothing is claimed
}

var workloads = []workload{
	{"find", "find", "find . >/dev/null", 1.0},
	{"ls -lR", "ls", "ls -lR . >/dev/null", 1.1},
	{"grep -r", "grep", "! grep -r zebrazebra texts", 1.2},
	{"rg", "rg", "! rg -uu zebrazebra texts", 1.25},
	{"tar", "tar", "tar cf - texts | cat >/dev/null", 1.2},
	{"cat", "cat", "find texts -type f -print0 | xargs -0 cat >/dev/null", 0},
	{"stat storm", "stat", "find texts -type f -print0 | xargs -0 stat -c %s >/dev/null", 0},
	{"1 MiB files", "cat", "for i in 1 2 3 4 5; do cat large/* >/dev/null; done", 1.3},
}

// target is a place where workloads run.
type target struct {
	name string
	// open makes the place and returns its directory and how to end it.
	open func(b *testing.B) (dir string, end func())
	dir  string // while it is open for the warm rounds
}

// BenchmarkMount compares the mount with native ext4 (or whatever holds the
// temporary directory) and with go-fuse's loopback example over the same files,
// all in one run. It reports ratios: warm ones to native, cold ones, on a fresh
// mount, to a fresh loopback.
func BenchmarkMount(b *testing.B) {
	needFuse(b)
	files := benchFiles()
	native := b.TempDir()
	writeNative(b, native, files)
	mem := newMem(b, files)
	loopback := filepath.Join(b.TempDir(), "loopback")
	run(b, "go", "build", "-o", loopback, "github.com/hanwen/go-fuse/v2/example/loopback")
	targets := []*target{
		{name: "native", open: func(*testing.B) (string, func()) { return native, func() {} }},
		{name: "memory", open: func(b *testing.B) (string, func()) { return openMount(b, mem, nil) }},
		{name: "badger", open: func(b *testing.B) (string, func()) { return openMount(b, badgerStore(b, files), nil) }},
		{name: "memory-rw", open: func(b *testing.B) (string, func()) { return openMount(b, mem, writable(b)) }},
		{name: "loopback", open: func(b *testing.B) (string, func()) { return openLoopback(b, loopback, native) }},
	}
	var table [][]string
	for _, t := range targets {
		dir, end := t.open(b)
		t.dir = dir
		defer end()
	}
	for _, w := range workloads {
		if _, err := exec.LookPath(w.tool); err != nil {
			b.Logf("%s is left out, the program %s is not installed", w.name, w.tool)
			continue
		}
		b.Run(strings.ReplaceAll(w.name, " ", "_")+"/warm", func(b *testing.B) {
			table = append(table, benchWarm(b, w, targets))
		})
		b.Run(strings.ReplaceAll(w.name, " ", "_")+"/cold", func(b *testing.B) {
			table = append(table, benchCold(b, w, targets[1], targets[len(targets)-1]))
		})
	}
	printTable(b, table)
}

// BenchmarkVisible is how long a write takes until the mount shows it, where the kernel
// has the name and the bytes of what it replaces and no one else looks.
func BenchmarkVisible(b *testing.B) {
	needFuse(b)
	mem := newMem(b, map[string]string{"/d/f": "0"})
	s := mount(b, mem, nil)
	look := newLooker(b)
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		look.ask("read", under(s, "/d/f"))
		text := body(n, 40)
		b.StartTimer()
		begin := time.Now()
		write(b, mem, "/d/f", text)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
}

// writeNative writes files and drops them from the page cache, so that they come
// back by reading, as files mostly do. Pages that a write leaves there are of
// another make, and twice as fast to read.
func writeNative(b *testing.B, dir string, files map[string]string) {
	b.Helper()
	for path, content := range files {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	unix.Sync() // pages not yet on the disk cannot be dropped
	for path := range files {
		f, err := os.Open(filepath.Join(dir, path))
		if err != nil {
			b.Fatal(err)
		}
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		f.Close()
		if err != nil {
			b.Fatal(err)
		}
	}
}

// benchWarm runs a workload on all targets in turn and compares the best of each.
func benchWarm(b *testing.B, w workload, targets []*target) []string {
	took := make([][]time.Duration, len(targets))
	for _, t := range targets {
		work(b, w, t.dir) // warms
	}
	for b.Loop() {
		for i, t := range targets {
			took[i] = append(took[i], work(b, w, t.dir))
		}
	}
	native := best(took[0])
	cells := []string{w.name, "warm", native.Round(10 * time.Microsecond).String()}
	for i, t := range targets[1:] {
		ratio := float64(best(took[i+1])) / float64(native)
		b.ReportMetric(ratio, t.name+"/native")
		cells = append(cells, fmt.Sprintf("%.2f", ratio))
	}
	bar := ""
	if w.most > 0 {
		bar = fmt.Sprintf("%.2f", w.most)
	}
	return append(cells, bar)
}

// benchCold runs a workload on fresh mounts and reports the ratio of the best.
func benchCold(b *testing.B, w workload, ours, loopback *target) []string {
	var took [2][]time.Duration
	for b.Loop() {
		for i, t := range []*target{ours, loopback} {
			dir, end := t.open(b)
			took[i] = append(took[i], work(b, w, dir))
			end()
		}
	}
	base := best(took[1])
	ratio := float64(best(took[0])) / float64(base)
	b.ReportMetric(ratio, "memory/loopback")
	return []string{w.name, "cold, to loopback", base.Round(10 * time.Microsecond).String(), fmt.Sprintf("%.2f", ratio), "", "", "1.00", ""}
}

// best is what to compare on a machine that others use, too.
func best(d []time.Duration) time.Duration { return slices.Min(d) }

// work runs a workload once and returns how long it took.
func work(b *testing.B, w workload, dir string) time.Duration {
	b.Helper()
	cmd := exec.Command("sh", "-c", `cd "$0" && { `+w.script+"\n}", dir)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		b.Fatalf("%s in %s: %v\n%s", w.script, dir, err, out)
	}
	return took
}

func printTable(b *testing.B, table [][]string) {
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "workload\t\tbase\tmemory\tbadger\tmemory --rw\tloopback\tbar")
	for _, cells := range table {
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	tw.Flush()
	b.Logf("times of the base, then ratios to it; warm: native is the base\n%s", text.String())
}

// benchFiles are 10,000 texts of 2 to 8 KiB, and 32 of 1 MiB.
func benchFiles() map[string]string {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("agent note store river tree garden water basil tuesday meeting draft plan revision path")
	text := func(size int) string {
		var sb strings.Builder
		for sb.Len() < size {
			sb.WriteString(words[rnd.IntN(len(words))])
			sb.WriteByte(" \n"[rnd.IntN(8)/7])
		}
		return sb.String()[:size]
	}
	files := map[string]string{}
	for i := range 10_000 {
		files[fmt.Sprintf("/texts/d%02d/e%d/note-%04d.md", i%50, i%7, i)] = text(2048 + rnd.IntN(6145))
	}
	for i := range 32 {
		files[fmt.Sprintf("/large/%02d.txt", i)] = text(1 << 20)
	}
	return files
}

func openMount(b *testing.B, backend vfs.Backend, opts *fusebridge.Options) (string, func()) {
	s, err := fusebridge.Mount(b.Context(), backend, b.TempDir(), opts)
	if err != nil {
		b.Fatal(err)
	}
	return s.Dir(), func() {
		if err := s.Unmount(); err != nil {
			b.Error(err)
		}
		s.Wait()
	}
}

func badgerStore(b *testing.B, files map[string]string) vfs.Backend {
	store, err := badgerfs.Open(b.Context(), b.TempDir(), nil)
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

// openLoopback mounts go-fuse's loopback example over dir.
func openLoopback(b *testing.B, program, dir string) (string, func()) {
	mnt := b.TempDir()
	cmd := exec.Command(program, mnt, dir)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for begin := time.Now(); ; {
		if info, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(string(info), " "+mnt+" ") {
			break
		}
		if time.Since(begin) > 10*time.Second {
			b.Fatal("the loopback example does not mount")
		}
	}
	return mnt, func() {
		run(b, "umount", mnt)
		cmd.Wait()
	}
}
