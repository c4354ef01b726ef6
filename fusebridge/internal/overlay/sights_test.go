//go:build linux

package overlay_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
)

// waysToReplace are the ways of programs to give /f the text "mine".
var waysToReplace = []struct {
	name    string
	replace func(k *kernel) fuse.Status
	want    fuse.Status // when it loses
	kept    []string    // then
}{
	{"rename", func(k *kernel) fuse.Status {
		if status := k.save("/new", "mine", makeNew); status != fuse.OK {
			return status
		}
		return k.rename("/new", "/f")
	}, fuse.EBUSY, []string{"mine"}},
	{"sed -i", func(k *kernel) fuse.Status {
		if status := k.save("/sedAb12cd", "mine", makeNew); status != fuse.OK {
			return status
		}
		return k.rename("/sedAb12cd", "/f")
	}, fuse.EBUSY, []string{"mine"}},
	{"open with w", func(k *kernel) fuse.Status { return k.save("/f", "mine", rewrite) }, fuse.Status(syscall.ESTALE), []string{"mine"}},
	{"a backup first", func(k *kernel) fuse.Status {
		if status := k.rename("/f", "/f~"); status != fuse.OK {
			return status
		}
		return k.save("/f", "mine", makeNew)
	}, fuse.EBUSY, []string{}}, // before it has typed
}

// TestWhatWasSeenMayBeReplaced: a process that read a file replaces what it read, and
// nothing that the agent wrote since, by whichever way; it is told, and its bytes are
// kept. Others, and itself when it insists, are free.
func TestWhatWasSeenMayBeReplaced(t *testing.T) {
	stale := fuse.Status(syscall.ESTALE)
	steps := []struct {
		name  string
		do    func(t *testing.T, k *kernel, b vfs.Backend)
		loses bool
	}{
		{"it read, the agent wrote", func(t *testing.T, k *kernel, b vfs.Backend) { k.text("/f"); agent(t, b, "/f", "the agent's") }, true},
		{"the agent wrote, it read", func(t *testing.T, k *kernel, b vfs.Backend) { agent(t, b, "/f", "the agent's"); k.text("/f") }, false},
		{"it never read", func(t *testing.T, k *kernel, b vfs.Backend) { agent(t, b, "/f", "the agent's") }, false},
		{"another process read", func(t *testing.T, k *kernel, b vfs.Backend) {
			k.as(os.Getppid()).text("/f")
			agent(t, b, "/f", "the agent's")
		}, false},
		{"it read, it wrote", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.text("/f"); k.save("/f", " and", appendTo) }, false},
		{"it read, another process wrote", func(_ *testing.T, k *kernel, _ vfs.Backend) {
			k.text("/f")
			k.as(os.Getppid()).save("/f", "theirs", rewrite)
		}, false},
		{"it read, another process renamed over it", func(_ *testing.T, k *kernel, _ vfs.Backend) {
			k.text("/f")
			other := k.as(os.Getppid())
			other.save("/g", "theirs", rewrite)
			other.rename("/g", "/f")
		}, false},
		{"it read, the agent wrote, it was told", func(t *testing.T, k *kernel, b vfs.Backend) {
			k.text("/f")
			agent(t, b, "/f", "the agent's")
			if k.save("/f", "mine", rewrite) != stale {
				t.Error("it was not told")
			}
		}, false},
	}
	for _, way := range waysToReplace {
		for _, step := range steps {
			t.Run(way.name+"/"+step.name, func(t *testing.T) {
				mem := newMem(t, map[string]string{"/f": "old"})
				k := newKernel(t, mem, overlay.Options{})
				step.do(t, k, mem)
				keptBefore := len(k.kept())
				want, text, kept := fuse.OK, "mine", []string{}
				if step.loses {
					want, text, kept = way.want, "the agent's", way.kept
				}
				if got := way.replace(k); got != want {
					t.Errorf("it is told %v, want %v", got, want)
				}
				if got := stored(t, mem)["/f"]; got != text {
					t.Errorf("the store has %q, want %q", got, text)
				}
				if got := k.text("/f"); got != text {
					t.Errorf("the mount shows %q, want %q", got, text)
				}
				if diff := cmp.Diff(kept, k.kept()[keptBefore:]); diff != "" {
					t.Errorf("kept aside (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestWhatWasWrittenWasSeen: a process that replaced a file knows what it wrote, without
// reading it, and replaces nothing that the agent wrote since; unless it insists.
func TestWhatWasWrittenWasSeen(t *testing.T) {
	for _, first := range waysToReplace {
		for _, way := range waysToReplace {
			t.Run(first.name+", "+way.name, func(t *testing.T) {
				mem := newMem(t, map[string]string{"/f": "old"})
				k := newKernel(t, mem, overlay.Options{})
				if got := first.replace(k); got != fuse.OK {
					t.Fatal(got)
				}
				if strings.HasPrefix(first.name, "a backup") {
					k.unlink("/f~")
				}
				agent(t, mem, "/f", "the agent's")
				if got := way.replace(k); got != way.want || stored(t, mem)["/f"] != "the agent's" {
					t.Errorf("it is told %v, want %v; the store has %q", got, way.want, stored(t, mem)["/f"])
				}
				if diff := cmp.Diff(way.kept, k.kept()); diff != "" {
					t.Errorf("kept aside (-want +got):\n%s", diff)
				}
				k.unlink("/new")
				k.unlink("/sedAb12cd")
				if got := way.replace(k); got != fuse.OK || stored(t, mem)["/f"] != "mine" {
					t.Errorf("when it insists: %v, the store has %q", got, stored(t, mem)["/f"])
				}
			})
		}
	}
}

// TestSightThatIsForgotten: of more openings than are remembered, the earliest are
// forgotten. Who may have had one of them is refused what the agent made meanwhile, once
// and in words; who cannot have had one is not, nor is anybody at a file that the agent
// left alone.
func TestSightThatIsForgotten(t *testing.T) {
	for _, way := range waysToReplace {
		t.Run(way.name, func(t *testing.T) {
			files := map[string]string{"/f": "old", "/quiet": "old"}
			for i := range overlay.MostSights {
				files[fmt.Sprintf("/n/%d", i)] = "x"
			}
			mem := newMem(t, files)
			k := newKernel(t, mem, overlay.Options{})
			k.text("/f")
			k.text("/quiet")
			for i := range overlay.MostSights {
				k.must(fmt.Sprintf("/n/%d", i), onlyRead).close()
			}
			agent(t, mem, "/f", "the agent's")
			if got := k.save("/quiet", "mine", rewrite); got != fuse.OK {
				t.Errorf("what the agent left alone: %v", got)
			}
			if got := way.replace(k); got != way.want || stored(t, mem)["/f"] != "the agent's" {
				t.Errorf("it is told %v, want %v; the store has %q", got, way.want, stored(t, mem)["/f"])
			}
			if diff := cmp.Diff(way.kept, k.kept()); diff != "" {
				t.Errorf("kept aside (-want +got):\n%s", diff)
			}
			if !strings.Contains(k.log.String(), "is refused once") {
				t.Errorf("the log says %q", k.log)
			}
			k.unlink("/new")
			k.unlink("/sedAb12cd")
			if got := way.replace(k); got != fuse.OK || stored(t, mem)["/f"] != "mine" {
				t.Errorf("when it insists: %v, the store has %q", got, stored(t, mem)["/f"])
			}
			later := laterProcess(t)
			agent(t, mem, "/f", "the agent's again")
			if got := way.replace(k.as(later)); got != fuse.OK {
				t.Errorf("who began when all that was forgotten had been: %v", got)
			}
		})
	}
}

// TestMadeMeanwhile: who is about to make a file that came since, in another thread than
// it read the one before in, loses all the same.
func TestMadeMeanwhile(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := unix.Gettid()
	if thread == os.Getpid() { // another thread is not this one
		done := make(chan int)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			done <- unix.Gettid()
			<-done
		}()
		thread = <-done
		defer close(done)
	}
	mem := newMem(t, map[string]string{"/f": "old"})
	k := newKernel(t, mem, overlay.Options{})
	k.text("/f")
	agent(t, mem, "/f", "the agent's")
	in, out := fuse.CreateIn{InHeader: k.as(thread).header(fuse.FUSE_ROOT_ID), Flags: rewrite}, fuse.CreateOut{}
	if status := k.o.Create(nil, &in, "f", &out); status != fuse.OK {
		t.Fatal(status)
	}
	f := file{k, out.NodeId, out.Fh}
	f.write("mine")
	if status := f.close(); status != fuse.Status(syscall.ESTALE) || stored(t, mem)["/f"] != "the agent's" {
		t.Errorf("%v, the store has %q", status, stored(t, mem)["/f"])
	}
}

// TestToldOnce: who was told of a lost race and insists is not told of the same one again,
// though someone else has the file open since before.
func TestToldOnce(t *testing.T) {
	stale := fuse.Status(syscall.ESTALE)
	mem := newMem(t, map[string]string{"/f": "old"})
	k := newKernel(t, mem, overlay.Options{})
	k.text("/f")
	agent(t, mem, "/f", "the agent's")
	f := k.must("/f", rewrite)
	other := k.as(os.Getppid()).must("/f", appendTo)
	f.write("mine")
	if status := f.close(); status != stale {
		t.Errorf("the first time: %v", status)
	}
	if status := k.save("/f", "mine, again", rewrite); status != fuse.OK || stored(t, mem)["/f"] != "mine, again" {
		t.Errorf("the second time: %v, the store has %q", status, stored(t, mem)["/f"])
	}
	if status := other.close(); status != fuse.OK {
		t.Errorf("who typed nothing: %v", status)
	}
	if diff := cmp.Diff([]string{"mine"}, k.kept()); diff != "" {
		t.Errorf("kept aside (-want +got):\n%s", diff)
	}
}

// laterProcess starts a process that began, as far as the system tells, later than all
// that was done until now.
func laterProcess(t *testing.T) (pid int) {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		t.Fatal(err)
	}
	for {
		c := exec.Command("cat")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			in.Close()
			c.Wait()
		})
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if overlay.StartIn(string(stat)) > time.Duration(now.Nano()) {
			return c.Process.Pid
		}
	}
}
