//go:build linux

package fusebridge_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
)

// slowListings lets the beginning of a listing wait, on its way to the kernel, while it
// is armed.
type slowListings struct {
	fuse.RawFileSystem
	armed atomic.Bool
	held  chan chan struct{} // close what comes to let that answer go
	over  chan struct{}      // closed when no more are held
}

func (s *slowListings) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	status := s.RawFileSystem.ReadDir(cancel, in, out)
	if in.Offset == 0 && s.armed.Load() {
		let := make(chan struct{})
		select {
		case s.held <- let:
			<-let
		case <-s.over:
		}
	}
	return status
}

// A listing that was on its way at a change is not what is listed after it, though a
// second program has begun to list in between: the kernel dates what it keeps by the one
// that begins first, and the second would have it dated anew.
func TestTwoListersAndAChange(t *testing.T) {
	for kernel, with := range kernels {
		t.Run(kernel, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/d/stays": "x"})
			slow := &slowListings{held: make(chan chan struct{}), over: make(chan struct{})}
			s := mount(t, mem, fusebridge.WithBetween(with(writable(t)), func(under fuse.RawFileSystem) fuse.RawFileSystem {
				slow.RawFileSystem = under
				return slow
			}))
			dir := under(s, "/d")
			first, second, third := newLooker(t), newLooker(t), newLooker(t)
			list := func(l *looker) <-chan string {
				answer := make(chan string, 1)
				go func() { answer <- l.ask("list", dir) }()
				return answer
			}
			slow.armed.Store(true)
			before := list(first)
			old := <-slow.held
			write(t, mem, "/d/new", "y")
			after := list(second)
			young := make(chan struct{})
			select {
			case young = <-slow.held:
			case <-time.After(200 * time.Millisecond): // it waits for the first one, as it may
			}
			slow.armed.Store(false)
			close(slow.over)
			close(old)
			if got := <-before; got != "stays" {
				t.Errorf("who began before the change lists %q", got)
			}
			close(young)
			if got := <-after; got != "new stays" {
				t.Errorf("who began after the change lists %q", got)
			}
			for n := range 3 {
				if got := third.ask("list", dir); got != "new stays" {
					t.Errorf("look %d after it lists %q", n, got)
				}
			}
		})
	}
}

// TestFreshListing makes and removes directories where several programs list all the
// time: a listing that was on its way to one of them at a change is not what the next
// one gets, nor the one after it.
func TestFreshListing(t *testing.T) {
	type listed struct {
		name    string
		opts    func(t *testing.T) *fusebridge.Options
		listers int
	}
	mounts := []listed{{"read-only", func(*testing.T) *fusebridge.Options { return nil }, 8}}
	for kernel, with := range kernels {
		for _, listers := range []int{1, 8} {
			mounts = append(mounts, listed{fmt.Sprintf("writable, %s, %d listers", kernel, listers), func(t *testing.T) *fusebridge.Options { return with(writable(t)) }, listers})
		}
	}
	for _, m := range mounts {
		t.Run(m.name, func(t *testing.T) {
			mem := newMem(t, freshSeed())
			s := mount(t, mem, m.opts(t))
			const looks = 3
			for range m.listers {
				child(t, "list", under(s, "/n"))
			}
			look := newLooker(t)
			stale := 0
			check := func(n int, shows string) {
				for range looks {
					if got := look.ask("list", under(s, "/n")); got != shows {
						if stale++; stale < 5 {
							t.Errorf("change %d: it lists %.200s, want %s", n, got, shows)
						}
					}
				}
			}
			for n := range testsize.Pick(100, 200, 6_000) {
				path := fmt.Sprintf("/n/made%d/file", n)
				write(t, mem, path, body(n, 1))
				check(n, fmt.Sprintf("made%d/ stays", n))
				remove(t, mem, path)
				check(n, "stays")
			}
			t.Logf("%d stale; %+v", stale, s.Counters())
		})
	}
}

// What a program changes in a directory of a writable mount shows in what it lists next,
// though others list there all the time.
func TestListingOfOwnChanges(t *testing.T) {
	const script = `
shows() { want=$1; set -- *; test "$*" = "$want" || echo "after $did it lists $*, want $want"; }
n=0
while test $n -lt "$ROUNDS"; do
	n=$((n + 1))
	did=writing; echo x >made; shows "made stays sub"
	did=renaming; mv made other; shows "other stays sub"
	did="renaming into a directory"; mv other sub/moved; shows "stays sub"
	did="looking there"; (cd sub; shows moved)
	did="making a directory"; mkdir empty; shows "empty stays sub"
	did=removing; rmdir empty; rm sub/moved; shows "stays sub"
	did="looking there at last"; (cd sub; shows "*")
done`
	for kernel, with := range kernels {
		t.Run(kernel, func(t *testing.T) {
			s := mount(t, newMem(t, map[string]string{"/d/stays": "x"}), with(writable(t)))
			dir := under(s, "/d")
			if out, err := shell(t, dir, "mkdir sub"); err != nil {
				t.Fatal(out, err)
			}
			for range 2 {
				child(t, "list", dir)
				child(t, "list", dir+"/sub")
			}
			out, err := shell(t, dir, fmt.Sprintf("ROUNDS=%d\n%s", testsize.Pick(5, 15, 300), script))
			if err != nil || out != "" {
				t.Errorf("%v\n%.2000s", err, out)
			}
		})
	}
}

// A file that an agent makes costs nothing but the listing of its directory, and one that
// it replaces its name as well: the kernel keeps all other names, listings and pages.
func TestOtherNamesAreKept(t *testing.T) {
	files := shelf(3, 20)
	mem := newMem(t, files)
	s := mount(t, mem, writable(t))
	look := newLooker(t)
	asked := func() (lookups, listings, opened uint64) {
		before := s.Counters()
		listDirs(t, look, s, files)
		for path := range files {
			look.ask("stat", under(s, path))
			look.ask("read", under(s, path))
		}
		after := s.Counters()
		return after.Requests["lookup"] - before.Requests["lookup"], after.Requests["readdir"] - before.Requests["readdir"],
			after.Requests["read"] + after.Ahead - before.Requests["read"] - before.Ahead
	}
	asked()
	lookups, listings, opened := asked()
	if lookups > 0 {
		t.Skip("this kernel keeps no names of a writable mount: it has no epochs")
	}
	if listings > 0 || opened > 0 {
		t.Errorf("the second look asks for %d listings and %d texts", listings, opened)
	}
	write(t, mem, "/s/d01/new", "x")
	if lookups, listings, opened := asked(); lookups > 0 || listings == 0 || listings > 3 || opened > 0 {
		t.Errorf("after a new file it asks for %d names, %d listings and %d texts", lookups, listings, opened)
	}
	edits := map[string]func(n int){
		"overwritten by the agent":   func(n int) { write(t, mem, "/s/d01/f001", body(n, n+1)) },
		"saved":                      func(n int) { run(t, "sh", "-c", fmt.Sprintf("echo %d >%s", n, under(s, "/s/d01/f002"))) },
		"saved, with a backup aside": func(int) { run(t, "sh", "-c", "cd "+under(s, "/s/d01")+" && mv f003 f003~ && echo >f003 && rm f003~") },
	}
	for name, edit := range edits {
		const few, tries = 8, 50
		for n := 0; ; n++ {
			edit(n)
			lookups, listings, opened = asked()
			if lookups == 0 {
				t.Errorf("%s: no name is asked for", name)
			}
			if lookups+listings+opened <= few {
				break // else the name could not be dropped in time
			}
			if n == tries {
				t.Errorf("%s: each time it asks for all, at last for %d names, %d listings and %d texts", name, lookups, listings, opened)
				break
			}
		}
	}
}
