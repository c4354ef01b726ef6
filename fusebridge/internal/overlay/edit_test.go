//go:build linux

package overlay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestCommitsAreChained: several writers of one file share one draft, which moves to
// each of its commits.
func TestCommitsAreChained(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "0"})
	k := newKernel(t, mem, overlay.Options{})
	a, b := k.must("/f", appendTo), k.must("/f", appendTo)
	if a.id != b.id {
		t.Errorf("two writers have the nodes %d and %d", a.id, b.id)
	}
	for _, step := range []struct {
		name string
		do   func() fuse.Status
		want string // in the store
	}{
		{"a writes", func() fuse.Status { return a.write("1") }, "0"},
		{"b writes", func() fuse.Status { return b.write("2") }, "0"},
		{"a syncs", a.fsync, "012"},
		{"b writes on", func() fuse.Status { return b.write("3") }, "012"},
		{"a closes", a.close, "0123"},
		{"b closes", b.close, "0123"},
	} {
		if status := step.do(); status != fuse.OK {
			t.Errorf("%s: %v", step.name, status)
		}
		if got := stored(t, mem)["/f"]; got != step.want {
			t.Errorf("%s: the store has %q, want %q", step.name, got, step.want)
		}
	}
	if entry, _ := k.lookup("/f"); entry.NodeId != a.id {
		t.Error("after its commit the file is another node")
	}
}

// TestNumberAfterClose: when the last close has returned, a file has the inode number
// that it keeps, although the kernel lets go of the opening later.
func TestNumberAfterClose(t *testing.T) {
	mem := newMem(t, map[string]string{"/old": "0"})
	k := newKernel(t, mem, overlay.Options{})
	for path, text := range map[string]string{"/old": "1", "/new": "1", "/empty": ""} {
		first, last := k.must(path, rewrite), k.must(path, rewrite)
		number := first.stat(t).Ino
		if text != "" {
			first.write(text)
		}
		if first.close(); last.stat(t).Ino != number {
			t.Errorf("%s: the number changed while the file was open", path)
		}
		last.flush()
		entry, _ := k.lookup(path)
		last.release()
		if after, _ := k.lookup(path); entry.Ino != after.Ino || entry.Ino == number {
			t.Errorf("%s: %d while open, %d when closed, %d when let go of", path, number, entry.Ino, after.Ino)
		}
	}
}

// TestAgentWinsWhileCommitting: an agent's write of the same length, which comes right
// before ours, is not taken for ours.
func TestAgentWinsWhileCommitting(t *testing.T) {
	m := &meddled{FS: newMem(t, map[string]string{"/f": "old"})}
	k := newKernel(t, m, overlay.Options{})
	f := k.must("/f", rewrite)
	f.write("mine")
	looked := make(chan string)
	m.write = func(string) error {
		agent(t, m.FS, "/f", "them")
		go func() { looked <- k.text("/f") }() // it is doubtful whose that was, until the store answers
		return nil
	}
	if status := f.close(); status != fuse.Status(syscall.ESTALE) {
		t.Errorf("close says %v", status)
	}
	if got := <-looked; got != "them" {
		t.Errorf("who looks right after the agent's write sees %q", got)
	}
	if got := k.text("/f"); got != "them" {
		t.Errorf("the mount shows %q", got)
	}
	if diff := cmp.Diff([]string{"mine"}, k.kept()); diff != "" {
		t.Errorf("kept aside (-want +got):\n%s", diff)
	}
}

// TestLookWaitsForTheStore: who looks while it is not known yet whose a change of the
// file is waits for the store's answer, and so never sees the loser.
func TestLookWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meddled{FS: newMem(t, map[string]string{"/f": "old"})}
		k := newKernel(t, m, overlay.Options{})
		f := k.must("/f", rewrite)
		f.write("mine")
		looked := make(chan string, 1)
		m.write = func(string) error {
			agent(t, m.FS, "/f", "them")
			go func() { looked <- k.text("/f") }()
			synctest.Wait()
			if len(looked) > 0 {
				t.Error("who looks before the store's answer is not kept waiting")
			}
			return nil
		}
		f.close()
		if got := <-looked; got != "them" {
			t.Errorf("who looked sees %q", got)
		}
	})
}

// TestOtherLengthIsNotOurs: an agent's write of another length than ours cannot be ours,
// so it shows at once, whatever the store has yet to answer.
func TestOtherLengthIsNotOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meddled{FS: newMem(t, map[string]string{"/f": "old"})}
		k := newKernel(t, m, overlay.Options{})
		f := k.must("/f", rewrite)
		f.write("mine")
		m.write = func(string) error {
			agent(t, m.FS, "/f", "the agent's")
			if got := k.text("/f"); got != "the agent's" {
				t.Errorf("who looks before the store's answer sees %q", got)
			}
			return nil
		}
		if status := f.close(); status != fuse.Status(syscall.ESTALE) {
			t.Errorf("close says %v", status)
		}
	})
}

// TestAgentWritesRightAfter: an agent's write right behind our commit shows, and the
// node that was committed keeps its bytes for who has it open.
func TestAgentWritesRightAfter(t *testing.T) {
	m := &after{meddled: &meddled{FS: newMem(t, map[string]string{"/f": "old"})}}
	k := newKernel(t, m, overlay.Options{})
	f := k.must("/f", rewrite)
	r := k.must("/f", onlyRead)
	f.write("mine")
	m.then = func() { agent(t, m.FS, "/f", "them") }
	if status := f.close(); status != fuse.OK {
		t.Errorf("close says %v", status)
	}
	if got := k.text("/f"); got != "them" {
		t.Errorf("the mount shows %q", got)
	}
	if got, status := r.read(); got != "mine" {
		t.Errorf("who had it open reads %q, %v", got, status)
	}
}

// TestStoreAway: while the store fails, what was typed stays; when it is back by the
// last close nothing is lost, and else it is kept aside.
func TestStoreAway(t *testing.T) {
	for _, back := range []bool{true, false} {
		m := &meddled{FS: newMem(t, map[string]string{"/f": "old"})}
		k := newKernel(t, m, overlay.Options{})
		f := k.must("/f", rewrite)
		f.write("mine")
		broken := func(string) error { return errors.New("broken") }
		m.write = broken
		if status := f.flush(); status != fuse.EIO {
			t.Errorf("closing says %v", status)
		}
		want, kept := "mine", []string{}
		if !back {
			m.write = broken
			want, kept = "old", []string{"mine"}
		}
		f.k.o.Release(nil, &fuse.ReleaseIn{InHeader: k.header(f.id), Fh: f.fh})
		if got := k.text("/f"); got != want || stored(t, m)["/f"] != want {
			t.Errorf("back %v: the mount shows %q, the store has %q", back, got, stored(t, m)["/f"])
		}
		if diff := cmp.Diff(kept, k.kept()); diff != "" {
			t.Errorf("back %v: kept aside (-want +got):\n%s", back, diff)
		}
	}
}

// TestBounds: what is kept in memory and aside is bounded, told when reached, and goes
// on when there is room again.
func TestBounds(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		k := newKernel(t, newMem(t, nil), overlay.Options{MemoryBytes: 1000})
		if status := k.save("/a~", strings.Repeat("x", 900), rewrite); status != fuse.OK {
			t.Fatal(status)
		}
		f := k.must("/b", rewrite)
		if status := f.write(strings.Repeat("x", 200)); status != fuse.Status(syscall.ENOSPC) {
			t.Errorf("beyond the bound: %v", status)
		}
		if !strings.Contains(k.log.String(), "fill the memory") {
			t.Error("the log does not tell")
		}
		k.unlink("/a~")
		entry, _ := k.lookup("/b")
		for id := uint64(2); id < entry.NodeId+5; id++ {
			if id != f.id {
				k.o.Forget(id, 100)
			}
		}
		if status := f.write(strings.Repeat("x", 200)); status != fuse.OK {
			t.Errorf("with room again: %v", status)
		}
		if status := f.close(); status != fuse.OK {
			t.Error(status)
		}
	})
	t.Run("aside of two mounts", func(t *testing.T) {
		mem := newMem(t, map[string]string{"/f": "old"})
		k := newKernel(t, mem, overlay.Options{ConflictBytes: 1000})
		f := k.must("/f", rewrite)
		f.write(strings.Repeat("x", 100))
		agent(t, mem, "/f", "the agent's")
		if err := os.WriteFile(filepath.Join(k.state, "conflicts", "of another mount"), make([]byte, 950), 0o600); err != nil {
			t.Fatal(err)
		}
		f.close()
		if _, status := k.open("/f", appendTo); status != fuse.Status(syscall.ENOSPC) {
			t.Errorf("beginning a new edit: %v", status)
		}
	})
	t.Run("aside", func(t *testing.T) {
		mem := newMem(t, map[string]string{"/f": "old", "/g": "old"})
		k := newKernel(t, mem, overlay.Options{ConflictBytes: 10})
		f, g := k.must("/f", rewrite), k.must("/g", rewrite)
		f.write("mine, which is long")
		g.write("mine, too")
		agent(t, mem, "/f", "the agent's")
		agent(t, mem, "/g", "the agent's")
		f.close()
		if _, status := k.open("/f", appendTo); status != fuse.Status(syscall.ENOSPC) {
			t.Errorf("beginning a new edit: %v", status)
		}
		if _, status := k.open("/new", rewrite); status != fuse.Status(syscall.ENOSPC) {
			t.Errorf("beginning a new file: %v", status)
		}
		if g.close(); len(k.kept()) != 2 {
			t.Errorf("what was open already is lost: %q", k.kept())
		}
		if !strings.Contains(k.log.String(), "have reached the limit") {
			t.Error("the log does not tell")
		}
		removeKept(t, k)
		if status := k.save("/f", "more", appendTo); status != fuse.OK {
			t.Errorf("with room again: %v", status)
		}
	})
}

// TestTemporaries: names of temporary files, made in either way.
func TestTemporaries(t *testing.T) {
	for name, want := range map[string][2]bool{ // made anyhow, made fresh
		"f___jb_tmp___": {true, true}, "f___jb_old___": {true, true}, ".goutputstream-AB12CD": {true, true},
		"sedAb12cd": {false, true}, "sedentary": {false, false}, "sedation": {false, false}, "sed": {false, false}, "sedAb12c": {false, false},
		".f.Xy12Zw": {false, true}, ".config.backup": {false, false}, ".Xy12Zw": {false, false}, "f.Xy12Zw": {false, false},
		"notes.md": {false, false}, ".f.kate-swp": {true, true},
	} {
		for i, fresh := range []bool{false, true} {
			if got := overlay.IsTemporary(name, fresh); got != want[i] {
				t.Errorf("%q, fresh %v: %v", name, fresh, got)
			}
		}
	}
}

// TestHiddenBehind: a file renamed to a temporary name stays in the store under its
// own, and goes when the temporary one goes, unless something took its place.
func TestHiddenBehind(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, k *kernel, b vfs.Backend)
		want map[string]string
	}{
		{"kept while it is away", func(*testing.T, *kernel, vfs.Backend) {}, map[string]string{"/f": "old"}},
		{"removed with it", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.unlink("/f~") }, map[string]string{}},
		{"back under its name", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.rename("/f~", "/f") }, map[string]string{"/f": "old"}},
		{"on to another name", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.rename("/f~", "/g") }, map[string]string{"/g": "old"}},
		{"changed, and back", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.save("/f~", "er", appendTo); k.rename("/f~", "/f") }, map[string]string{"/f": "older"}},
		{"the agent wrote meanwhile", func(t *testing.T, k *kernel, b vfs.Backend) {
			agent(t, b, "/f", "the agent's")
			k.unlink("/f~")
		}, map[string]string{"/f": "the agent's"}},
		{"another took its place", func(_ *testing.T, k *kernel, _ vfs.Backend) { k.save("/f", "new", rewrite); k.unlink("/f~") }, map[string]string{"/f": "new"}},
		{"its directory is removed", func(_ *testing.T, k *kernel, _ vfs.Backend) {
			k.save("/d/x", "x", rewrite)
			k.rename("/d/x", "/x~")
			header := k.header(fuse.FUSE_ROOT_ID)
			if status := k.o.Rmdir(nil, &header, "d"); status != fuse.OK {
				k.t.Errorf("rmdir: %v", status)
			}
		}, map[string]string{"/f": "old", "/d/x": "x", "/d/y": "y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/f": "old", "/d/y": "y"})
			k := newKernel(t, mem, overlay.Options{})
			if status := k.rename("/f", "/f~"); status != fuse.OK {
				t.Fatal(status)
			}
			if got := k.text("/f"); got != syscall.ENOENT.Error() {
				t.Errorf("its name shows %q", got)
			}
			if strings.HasPrefix(tt.name, "its directory") {
				k.rename("/d/y", "/y~")
			} else {
				tt.want["/d/y"] = "y"
			}
			tt.do(t, k, mem)
			if diff := cmp.Diff(tt.want, stored(t, mem)); diff != "" {
				t.Errorf("the store (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLateNews: what the store tells late of our own commits, or finds in a walk of what
// is hidden, changes nothing.
func TestLateNews(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "old", "/g": "old"})
	k := newKernel(t, mem, overlay.Options{})
	k.save("/f", "first", rewrite)
	first, err := vfs.Stat(t.Context(), mem, "/f")
	if err != nil {
		t.Fatal(err)
	}
	k.save("/f", "second", rewrite)
	k.o.Follow.Apply(t.Context(), vfs.Event{Path: "/f", Info: first})
	if got := k.text("/f"); got != "second" {
		t.Errorf("after late news the file shows %q", got)
	}
	k.rename("/g", "/g~")
	if err := k.o.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := k.text("/g"); got != syscall.ENOENT.Error() {
		t.Errorf("after a walk the hidden file shows %q", got)
	}
}

// TestTypedWhileCommitting: bytes that come while the store is asked are of the next
// commit.
func TestTypedWhileCommitting(t *testing.T) {
	m := &meddled{FS: newMem(t, map[string]string{"/f": ""})}
	k := newKernel(t, m, overlay.Options{})
	f := k.must("/f", appendTo)
	f.write("one ")
	m.write = func(string) error { f.write("two"); return nil }
	for i, want := range []string{"one ", "one two"} {
		if status := f.fsync(); status != fuse.OK || stored(t, m)["/f"] != want {
			t.Errorf("commit %d: %v, the store has %q, want %q", i, status, stored(t, m)["/f"], want)
		}
	}
	if status := f.close(); status != fuse.OK {
		t.Error(status)
	}
}

// TestWaitingInThePlace: a new file that is not written yet keeps the place of a backup
// that is removed.
func TestWaitingInThePlace(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "old"})
	k := newKernel(t, mem, overlay.Options{})
	k.rename("/f", "/f~")
	f := k.must("/f", rewrite)
	if status := k.unlink("/f~"); status != fuse.OK {
		t.Error(status)
	}
	if got := stored(t, mem)["/f"]; got != "old" {
		t.Errorf("before the new text the store has %q", got)
	}
	f.write("new")
	if status := f.close(); status != fuse.OK || stored(t, mem)["/f"] != "new" {
		t.Errorf("%v, the store has %q", status, stored(t, mem)["/f"])
	}
}
