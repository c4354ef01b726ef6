//go:build linux

package fusebridge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// freshCase writes, says what must be seen at once, and is repeated.
type freshCase struct {
	name string
	// step makes change n and returns looks that must give these answers.
	step func(t *testing.T, b vfs.Backend, n int) []want
}

type want struct{ verb, path, answer string }

func quoted(text string) string { return fmt.Sprintf("%q", text) }

var freshCases = []freshCase{
	{"overwrite", func(t *testing.T, b vfs.Backend, n int) []want {
		text := body(n, 1+n%700)
		write(t, b, "/d/over", text)
		return []want{{"read", "/d/over", quoted(text)}}
	}},
	{"same length", func(t *testing.T, b vfs.Backend, n int) []want {
		text := body(n, 300)
		write(t, b, "/d/same", text)
		return []want{{"read", "/d/same", quoted(text)}}
	}},
	{"some of many", func(t *testing.T, b vfs.Backend, n int) []want {
		wants := []want{{"list", "/m", strings.Join(manyNames(), " ")}}
		for i := range 4 { // who reads one of them is sent the others
			path := "/m/" + manyNames()[(n*7+i)%manyFiles]
			write(t, b, path, body(n, 1+n%50))
			wants = append(wants, want{"read", path, quoted(body(n, 1+n%50))})
		}
		return wants
	}},
	{"create and delete", func(t *testing.T, b vfs.Backend, n int) []want {
		if n%2 == 0 {
			write(t, b, "/c/new", body(n, 3))
			return []want{{"read", "/c/new", quoted(body(n, 3))}, {"list", "/c", "new stays"}}
		}
		remove(t, b, "/c/new")
		return []want{{"stat", "/c/new", "error: no such file or directory"}, {"list", "/c", "stays"}}
	}},
	{"delete and recreate", func(t *testing.T, b vfs.Backend, n int) []want {
		if n > 0 {
			remove(t, b, "/r/file")
		}
		write(t, b, "/r/file", body(n, 2))
		return []want{{"read", "/r/file", quoted(body(n, 2))}, {"list", "/r", "file stays"}}
	}},
	{"a new directory and back", func(t *testing.T, b vfs.Backend, n int) []want {
		if n%2 == 0 {
			write(t, b, "/n/sub/deep/file", body(n, 1))
			return []want{{"read", "/n/sub/deep/file", quoted(body(n, 1))}, {"list", "/n", "stays sub/"}}
		}
		remove(t, b, "/n/sub/deep/file")
		return []want{{"stat", "/n/sub", "error: no such file or directory"}, {"list", "/n", "stays"}}
	}},
	{"file and directory", func(t *testing.T, b vfs.Backend, n int) []want {
		if n%2 == 0 {
			if n > 0 {
				remove(t, b, "/f/x/y")
			}
			write(t, b, "/f/x", body(n, 5))
			return []want{{"read", "/f/x", quoted(body(n, 5))}, {"list", "/f", "stays x"}}
		}
		remove(t, b, "/f/x")
		write(t, b, "/f/x/y", body(n, 5))
		return []want{{"read", "/f/x/y", quoted(body(n, 5))}, {"list", "/f", "stays x/"}}
	}},
	{"beside the directory", func(t *testing.T, b vfs.Backend, n int) []want {
		if n%2 == 0 {
			write(t, b, "/b/x", body(n, 1))
			return []want{{"list", "/b", "stays x/ x@file"}, {"read", "/b/x@file", quoted(body(n, 1))}}
		}
		remove(t, b, "/b/x")
		return []want{{"list", "/b", "stays x/"}, {"stat", "/b/x@file", "error: no such file or directory"}}
	}},
}

const manyFiles = 30

func manyNames() []string {
	names := make([]string, manyFiles)
	for n := range names {
		names[n] = fmt.Sprintf("%02d", n)
	}
	return names
}

// loops is how often a freshness test changes and looks.
func loops() int { return testsize.Pick(300, 300, 10_000) }

func freshSeed() map[string]string {
	seed := map[string]string{"/d/over": body(0, 1), "/d/same": body(0, 300), "/b/x/below": body(0, 1)}
	for _, dir := range []string{"c", "r", "n", "f", "b"} {
		seed["/"+dir+"/stays"] = body(0, 1)
	}
	for _, name := range manyNames() {
		seed["/m/"+name] = body(0, 20)
	}
	return seed
}

// TestFresh changes the store and looks through the mount from another process
// as soon as the write has returned, while two others hammer the mount.
func TestFresh(t *testing.T) {
	for _, c := range freshCases {
		t.Run(c.name, func(t *testing.T) {
			mem := newMem(t, freshSeed())
			s := mount(t, mem, nil)
			checkFresh(t, mem, s, c, loops(), false)
		})
	}
}

// kernels are those that keep the names of a writable mount, and those that do not.
var kernels = map[string]func(*fusebridge.Options) *fusebridge.Options{
	"names kept": func(o *fusebridge.Options) *fusebridge.Options { return o },
	"asked anew": fusebridge.WithoutEpoch,
}

// TestFreshWhileEdited does the same in a writable mount in which another program
// renames a file all the time: its requests must not let a write return early.
func TestFreshWhileEdited(t *testing.T) {
	for kernel, with := range kernels {
		for _, c := range freshCases {
			t.Run(kernel+"/"+c.name, func(t *testing.T) {
				seed := freshSeed()
				seed["/w/a"] = body(0, 1)
				mem := newMem(t, seed)
				s := mount(t, mem, with(writable(t)))
				in, out, _ := child(t, "rename", under(s, "/w/a"), under(s, "/w/b"))
				checkFresh(t, mem, s, c, loops()/8, false)
				in.Close()
				if failures := failuresOf(t, out); len(failures) > 0 {
					t.Errorf("the renaming program failed: %.300q", failures)
				}
			})
		}
	}
}

// walked is a store that is looked through at each change, before it tells of that.
type walked struct {
	*memfs.FS
	listed chan struct{}
}

func (w walked) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := w.FS.List(ctx, dir, opts)
	select {
	case w.listed <- struct{}{}:
	default:
	}
	return page, err
}

func (w walked) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return w.FS.Watch(ctx, dir, func(e vfs.Event) {
		if !e.Overflow {
			fn(vfs.Event{Path: dir, Overflow: true})
			<-w.listed
			for range rand.IntN(100) {
				runtime.Gosched()
			}
		}
		fn(e)
	})
}

// TestFreshWhileWalked does the same where a walk finds each change at about the moment
// at which it is told: the write must not return before the kernel knows, whoever says it.
func TestFreshWhileWalked(t *testing.T) {
	for _, c := range freshCases {
		t.Run(c.name, func(t *testing.T) {
			b := walked{newMem(t, freshSeed()), make(chan struct{}, 1)}
			s := mount(t, b, nil)
			checkFresh(t, b, s, c, loops()/10, true)
		})
	}
}

func checkFresh(t *testing.T, b vfs.Backend, s *fusebridge.Server, c freshCase, loops int, ahead bool) {
	look := newLooker(t)
	stop := startHammers(t, s.Dir(), 2, ahead)
	stale := 0
	took := make([]time.Duration, 0, loops)
	for n := range loops {
		begin := time.Now()
		wants := c.step(t, b, n)
		took = append(took, time.Since(begin))
		for _, w := range wants {
			if got := look.ask(w.verb, under(s, w.path)); got != w.answer {
				if stale++; stale < 5 {
					t.Errorf("change %d: %s %s: got %.200s, want %.200s", n, w.verb, w.path, got, w.answer)
				}
			}
		}
	}
	stop()
	slices.Sort(took)
	t.Logf("%d changes, %d stale; a change until it can be seen: p50 %v, p99 %v; %+v",
		loops, stale, took[len(took)/2], took[len(took)*99/100], s.Counters())
}
