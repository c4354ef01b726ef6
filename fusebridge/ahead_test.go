//go:build linux

package fusebridge_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// shelf has so many files in each of so many directories.
func shelf(dirs, each int) map[string]string {
	files := map[string]string{}
	for d := range dirs {
		for n := range each {
			files[fmt.Sprintf("/s/d%02d/f%03d", d, n)] = body(d*each+n, 1+n*7%200)
		}
	}
	return files
}

// listDirs has a child list every directory with files, so that the kernel knows them.
func listDirs(t *testing.T, look *looker, s *fusebridge.Server, files map[string]string) {
	t.Helper()
	listed := map[string]bool{}
	for path := range files {
		if dir := vpath.Dir(path); !listed[dir] {
			look.ask("list", under(s, dir))
			listed[dir] = true
		}
	}
}

// readAll has a child list all directories and read every file, which must be as in
// files.
func readAll(t *testing.T, s *fusebridge.Server, files map[string]string) {
	t.Helper()
	look := newLooker(t)
	listDirs(t, look, s, files)
	for _, path := range slices.SortedFunc(mapKeys(files), vpath.Compare) {
		if got := look.ask("read", under(s, path)); got != quoted(files[path]) {
			t.Errorf("%s: %.100s, want %.100q", path, got, files[path])
		}
	}
}

func mapKeys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Who reads one file after another of a directory is given the next ones, and the kernel
// asks for few.
func TestAhead(t *testing.T) {
	files := shelf(20, 60)
	mem := newMem(t, files)
	s := mount(t, mem, nil)
	readAll(t, s, files)
	c := s.Counters()
	if reads := c.Requests["read"]; c.Ahead == 0 || reads+c.Ahead < uint64(len(files)) || reads > uint64(len(files)/10) {
		t.Errorf("%d of %d files were asked for, %d sent ahead", reads, len(files), c.Ahead)
	}
	readAll(t, s, files) // all is in the page cache
	if again := s.Counters(); again.Requests["read"] != c.Requests["read"] || again.Ahead != c.Ahead {
		t.Errorf("the second pass: %d more reads, %d more sent ahead", again.Requests["read"]-c.Requests["read"], again.Ahead-c.Ahead)
	}
}

// Nothing is sent to who lists and describes files, also after a scan, nor where that is
// switched off; and little to who reads a file here and there.
func TestAheadOnlyForReaders(t *testing.T) {
	files := shelf(20, 60)
	mem := newMem(t, files)
	s := mount(t, mem, nil)
	look := newLooker(t)
	listDirs(t, look, s, files)
	for n := range 60 {
		look.ask("stat", under(s, fmt.Sprintf("/s/d05/f%03d", n)))
	}
	if n := s.Counters().Ahead; n > 0 {
		t.Errorf("%d files were sent ahead to who read none", n)
	}
	for d := range 20 {
		look.ask("read", under(s, fmt.Sprintf("/s/d%02d/f030", d)))
	}
	if n := s.Counters().Ahead; n > 0 {
		t.Errorf("%d files were sent ahead to who read one of each directory", n)
	}
	off := mount(t, mem, &fusebridge.Options{NoStoreAhead: true})
	readAll(t, off, files)
	if c := off.Counters(); c.Ahead > 0 || c.Requests["read"] != uint64(len(files)) {
		t.Errorf("switched off: %d sent ahead, %d of %d asked for", c.Ahead, c.Requests["read"], len(files))
	}
}

// A habit that is over is found out: who has read many directories through, and then
// reads one file of each, is soon given no more than that.
func TestAheadHabitEnds(t *testing.T) {
	files := shelf(60, 20)
	s := mount(t, newMem(t, files), nil)
	first := map[string]string{}
	for path, text := range files {
		if path < "/s/d06" {
			first[path] = text
		}
	}
	readAll(t, s, first)
	before := s.Counters().Ahead
	look := newLooker(t)
	listDirs(t, look, s, files)
	for d := 6; d < 60; d++ {
		look.ask("read", under(s, fmt.Sprintf("/s/d%02d/f010", d)))
	}
	const most = 8 * 20 // until the habit is looked at
	if n := s.Counters().Ahead - before; n > most {
		t.Errorf("%d files were sent ahead of who read one of each directory, want at most %d", n, most)
	}
}

// one is a store that reads one by one.
type one struct{ mem *memfs.FS }

func (o one) Read(ctx context.Context, path string) (vfs.File, error) { return o.mem.Read(ctx, path) }
func (o one) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	return o.mem.List(ctx, dir, opts)
}
func (o one) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return o.mem.Watch(ctx, dir, fn)
}

// A store without batches is read file by file, as it is asked for.
func TestAheadOneByOne(t *testing.T) {
	files := shelf(3, 30)
	s := mount(t, one{newMem(t, files)}, nil)
	readAll(t, s, files)
	if c := s.Counters(); c.Ahead > 0 || c.Requests["read"] != uint64(len(files)) {
		t.Errorf("%d sent ahead, %d of %d asked for", c.Ahead, c.Requests["read"], len(files))
	}
}

// watchdog ends this process, with the stacks of all goroutines, when what it watches
// over has not ended long after it must have: a mount that hangs would hang who looks
// at it, and the test with it.
func watchdog(t *testing.T) {
	t.Helper()
	const patience = 4 * time.Minute
	timer := time.AfterFunc(patience, func() {
		fmt.Fprintf(os.Stderr, "%s hangs; %d goroutines:\n", t.Name(), runtime.NumGoroutine())
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(1) // which aborts the mounts
	})
	t.Cleanup(func() { timer.Stop() })
}

// TestAheadWhileRewritten scans fresh mounts, four programs at a time, while an agent
// rewrites what they read: none hangs, each read is of one revision, and in the end the
// mount shows byte for byte what the store has.
func TestAheadWhileRewritten(t *testing.T) {
	needFuse(t)
	watchdog(t)
	var ahead uint64
	for n := range testsize.Pick(3, 3, 100) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			files := shelf(6, 40)
			mem := newMem(t, files)
			s := mount(t, mem, nil)
			stopScans := startHammers(t, s.Dir(), 4, false)
			rewrite(t, mem, files, uint64(n))
			stopScans()
			readAll(t, s, files)
			c := s.Counters()
			ahead += c.Ahead
			if t.Failed() {
				t.Logf("%+v", c)
			}
		})
	}
	if ahead == 0 {
		t.Error("nothing was sent ahead")
	}
}

// rewrite replaces files at random, by two writers, and notes what they hold.
func rewrite(t *testing.T, b vfs.Backend, files map[string]string, seed uint64) {
	t.Helper()
	paths := slices.SortedFunc(mapKeys(files), vpath.Compare)
	var writers sync.WaitGroup
	var mu sync.Mutex
	for w := range 2 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for n := range 400 {
				i := rng.IntN(len(paths)/2)*2 + w // each has files of its own
				text := body(n, 1+rng.IntN(300))
				write(t, b, paths[i], text)
				mu.Lock()
				files[paths[i]] = text
				mu.Unlock()
			}
		})
	}
	writers.Wait()
}

// between is a store in which something happens before a batch is read.
type between struct {
	*memfs.FS
	before func(paths []string)
}

func (b *between) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	b.before(paths)
	return b.FS.ReadBatch(ctx, paths)
}

// A file that is replaced between the plan to send it and its reading keeps the bytes of
// its revision for who has it open.
func TestAheadReplacedMeanwhile(t *testing.T) {
	watchdog(t)
	files := map[string]string{}
	for n := range 10 {
		files[fmt.Sprintf("/d/f%d", n)] = body(n, 50)
	}
	var replaced atomic.Int64
	b := &between{FS: newMem(t, files)}
	b.before = func(paths []string) {
		if slices.Contains(paths, "/d/f3") {
			replaced.Add(1)
			write(t, b.FS, "/d/f3", body(99, 50))
		}
	}
	s := mount(t, b, nil)
	look := newLooker(t)
	listDirs(t, look, s, files)
	look.ask("open", under(s, "/d/f3"))
	look.ask("read", under(s, "/d/f0"))
	look.ask("read", under(s, "/d/f1"))
	if replaced.Load() == 0 {
		t.Fatal("nothing was read ahead")
	}
	if got := look.ask("rest", under(s, "/d/f3")); got != quoted(files["/d/f3"]) {
		t.Errorf("who had it open reads %.60s", got)
	}
	if got := look.ask("read", under(s, "/d/f3")); got != quoted(body(99, 50)) {
		t.Errorf("who opens it now reads %.60s", got)
	}
}

// A store whose batches fail, or take long, or never come, is asked for the one file, and
// then left in peace for a while.
func TestAheadFails(t *testing.T) {
	files := shelf(2, 40)
	for name, fail := range map[string]func(context.Context) error{
		"fails": func(context.Context) error { return vfs.ErrUnavailable },
		"late":  func(ctx context.Context) error { return sleepUntil(ctx, 60*time.Millisecond) },
		"hangs": func(ctx context.Context) error { return sleepUntil(ctx, time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			b := &failing{FS: newMem(t, files), fail: fail}
			logged := newLines()
			s := mount(t, b, &fusebridge.Options{Timeout: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(logged, nil))})
			begin := time.Now()
			readAll(t, s, files)
			if text := logged.String(); strings.Contains(text, "failed") { // of which the kernel tries again
				t.Errorf("the log says %s", text)
			}
			if n := b.batches.Load(); n == 0 || n > 3+int64(time.Since(begin)/time.Second) {
				t.Errorf("%d batches were asked for in %v", n, time.Since(begin))
			}
		})
	}
}

// One batch that takes long among others that do not is the machine's, and ends nothing.
func TestAheadOnceSlow(t *testing.T) {
	files := shelf(2, 40)
	b := &failing{FS: newMem(t, files)}
	b.fail = func(ctx context.Context) error {
		if b.batches.Load() > 1 {
			return nil
		}
		return sleepUntil(ctx, 60*time.Millisecond)
	}
	s := mount(t, b, nil)
	readAll(t, s, files)
	if c := s.Counters(); c.Ahead < uint64(len(files)/2) {
		t.Errorf("%d of %d files were sent ahead, in %d batches", c.Ahead, len(files), b.batches.Load())
	}
}

// failing is a store whose batches fail or take their time.
type failing struct {
	*memfs.FS
	fail    func(context.Context) error
	batches atomic.Int64
}

// Read has no time left where a batch took all of it.
func (f *failing) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := ctx.Err(); err != nil {
		return vfs.File{}, err
	}
	return f.FS.Read(ctx, path)
}

func (f *failing) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	f.batches.Add(1)
	if err := f.fail(ctx); err != nil {
		return nil, err
	}
	return f.FS.ReadBatch(ctx, paths)
}

func sleepUntil(ctx context.Context, d time.Duration) error {
	sleep.For(ctx, d)
	return ctx.Err()
}
