//go:build linux

package fusebridge_test

import (
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// slowAnswers lets the answers to what removes names wait on their way to the kernel,
// while it is armed.
type slowAnswers struct {
	fuse.RawFileSystem
	armed atomic.Bool
	held  chan chan struct{} // close what comes to let that answer go
}

func (s *slowAnswers) hold(status fuse.Status) fuse.Status {
	if s.armed.Load() {
		let := make(chan struct{})
		s.held <- let
		<-let
	}
	return status
}

func (s *slowAnswers) Unlink(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	return s.hold(s.RawFileSystem.Unlink(cancel, header, name))
}

func (s *slowAnswers) Rmdir(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	return s.hold(s.RawFileSystem.Rmdir(cancel, header, name))
}

func (s *slowAnswers) Rename(cancel <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	return s.hold(s.RawFileSystem.Rename(cancel, in, from, to))
}

// What an agent makes under a name that is being removed shows at once: the kernel still
// has the old one, until it has taken in the answer.
func TestMadeWhileRemoved(t *testing.T) {
	removals := []struct{ name, script, path string }{
		{"a file", "rm $0/d/f", "/d/f"},
		{"renamed away", "mv $0/d/f $0/d/other", "/d/f"},
		{"renamed to it", "mv -f $0/d/f $0/d/g", "/d/g"},
		{"a directory", "rmdir $0/d/sub", "/d/sub/f"},
	}
	for kernel, with := range kernels {
		for _, r := range removals {
			t.Run(kernel+"/"+r.name, func(t *testing.T) {
				mem := newMem(t, map[string]string{"/d/f": "old", "/d/g": "old"})
				slow := &slowAnswers{held: make(chan chan struct{})}
				s := mount(t, mem, fusebridge.WithBetween(with(writable(t)), func(under fuse.RawFileSystem) fuse.RawFileSystem {
					slow.RawFileSystem = under
					return slow
				}))
				look := newLooker(t)
				run(t, "mkdir", under(s, "/d/sub"))
				for _, path := range []string{"/d/f", "/d/g", "/d/sub/f"} {
					look.ask("read", under(s, path)) // the kernel has the names
				}
				slow.armed.Store(true)
				removing := exec.Command("sh", "-c", r.script, s.Dir())
				if err := removing.Start(); err != nil {
					t.Fatal(err)
				}
				let := <-slow.held
				slow.armed.Store(false)
				write(t, mem, r.path, "new")
				answer := make(chan string, 1)
				go func() { answer <- look.ask("read", under(s, r.path)) }()
				var got string
				select {
				case got = <-answer:
					close(let)
				case <-time.After(200 * time.Millisecond): // it waits until the name is removed, as it may
					close(let)
					got = <-answer
				}
				if got != quoted("new") {
					t.Errorf("it reads %s", got)
				}
				removing.Wait()
			})
		}
	}
}

// A file that showed under another name, because a directory had its own, shows under its
// own name when that is removed or renamed, and under no other.
func TestNameAsideIsGivenUp(t *testing.T) {
	for kernel, with := range kernels {
		for _, remove := range []string{"rmdir $0/x", "mv -T $0/x $0/z"} {
			t.Run(kernel+"/"+remove, func(t *testing.T) {
				s := mount(t, newMem(t, map[string]string{"/x": "text", "/x/y": ""}), with(writable(t)))
				look := newLooker(t)
				run(t, "rm", under(s, "/x/y"))
				if got := look.ask("read", under(s, "/x@file")); got != quoted("text") {
					t.Errorf("beside the directory, it reads %s", got)
				}
				run(t, "sh", "-c", remove, s.Dir())
				if got := look.ask("read", under(s, "/x")); got != quoted("text") {
					t.Errorf("without the directory, it reads %s", got)
				}
				if got := look.ask("read", under(s, "/x@file")); got == quoted("text") {
					t.Error("it shows under both names")
				}
			})
		}
	}
}
