//go:build linux

package fusebridge_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// hangBound is how long a program may work on a mount before the test says that
// it hangs. None comes near it.
const hangBound = 40 * time.Second

// shell runs a script with the mount as working directory. The shell goes there
// itself: Go's fork stops this process, which serves the mount, until the child
// has changed its directory.
func shell(t testing.TB, dir, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `cd "$0" && { `+script+"\n}", dir)
	cmd.Env = append(os.Environ(), "TERM=xterm", "HOME=/nonexistent", "LC_ALL=C.UTF-8")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s hangs: %s", script, out)
	}
	return string(out), err
}

// stored returns all of a store.
func stored(t testing.TB, b vfs.Backend) map[string]string {
	t.Helper()
	files := map[string]string{}
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		files[info.Path] = f.Content
	}
	return files
}

func writable(t testing.TB) *fusebridge.Options {
	return &fusebridge.Options{ReadWrite: true, StateDir: t.TempDir()}
}

// TestTools lets real programs edit through the mount and compares the store.
func TestTools(t *testing.T) {
	tests := []struct {
		name, tool, script string
		want               map[string]string // beside /keep
	}{
		{"redirect", "sh", `echo one >f; echo two >>f; cat f >g`, map[string]string{"/f": "one\ntwo\n", "/g": "one\ntwo\n"}},
		{"a shared descriptor", "sh", `exec 3>f; (echo one >&3); (echo two >&3); exec 3>&-`, map[string]string{"/f": "one\ntwo\n"}},
		{"touch", "touch", `touch f; touch f; test ! -s f`, map[string]string{"/f": ""}},
		{"sed", "sed", `echo one >f; sed -i s/one/two/ f; grep -qx two f`, map[string]string{"/f": "two\n"}},
		{"truncate", "truncate", `echo 123456 >f; truncate -s 3 f; truncate -s 0 keep`, map[string]string{"/f": "123", "/keep": ""}},
		{"dd in the middle", "dd", `printf abcdef >f; printf XY | dd of=f bs=1 seek=2 conv=notrunc,fsync 2>/dev/null`, map[string]string{"/f": "abXYef"}},
		{"cp -p", "cp", `cp -p keep f && cp -p f g && cmp f g`, map[string]string{"/f": "kept\n", "/g": "kept\n"}},
		{"mv over", "mv", `echo new >f; mv f keep`, map[string]string{"/keep": "new\n"}},
		{"mv to another directory", "mv", `mkdir -p a/b; mv keep a/b/c`, map[string]string{"/keep": "-", "/a/b/c": "kept\n"}},
		{"mv a directory", "mv", `mkdir a; echo x >a/x; echo y >a/y; mv a b; test ! -e a`, map[string]string{"/b/x": "x\n", "/b/y": "y\n"}},
		{"rm -r", "rm", `mkdir -p a/b/c; echo x >a/x; echo y >a/b/c/y; rm -r a; test ! -e a`, nil},
		{"rmdir", "rmdir", `mkdir -p a/b; rmdir a/b; rmdir a; test ! -e a; mkdir c; echo x >c/x; ! rmdir c 2>/dev/null`, map[string]string{"/c/x": "x\n"}},
		{"mkdir and stay", "sh", `mkdir d && cd d && echo x >x && test "$(pwd -P)" = "$(cd .. && pwd -P)/d" && /bin/pwd >/dev/null`, map[string]string{"/d/x": "x\n"}},
		{"rsync", "rsync", `s=$(mktemp -d); echo 1 >$s/a; mkdir $s/d; echo 2 >$s/d/b; rsync -a $s/ . && echo 3 >$s/d/b && rsync -ac $s/ . ; r=$?; rm -r $s; exit $r`, map[string]string{"/a": "1\n", "/d/b": "3\n"}},
		{"tar -x", "tar", `s=$(mktemp -d); echo 1 >$s/a; mkdir $s/d; echo 2 >$s/d/b; tar cf $s.tar -C $s . && tar xf $s.tar && tar xf $s.tar; r=$?; rm -r $s $s.tar; exit $r`, map[string]string{"/a": "1\n", "/d/b": "2\n"}},
		{"write a temporary and rename", "mv", `printf v1 >note.md; printf v2 >note.md.tmp123; mv -f note.md.tmp123 note.md`, map[string]string{"/note.md": "v2"}},
		{"git in a copy", "git", `s=$(mktemp -d); cp -r . $s/w; cd $s/w; export GIT_CONFIG_GLOBAL=/dev/null; git -c init.defaultBranch=m init -q; git add -A; git -c user.name=n -c user.email=e commit -qm m; echo more >>keep; git diff --quiet && exit 1; cp keep "$OLDPWD/keep"; rm -rf $s`, map[string]string{"/keep": "kept\nmore\n"}},
		{"vim, renaming", "vim", `vim -es -u NONE -i NONE -c 'set backupskip= writebackup backupcopy=no' -c '%s/kept/vim/' -c wq keep`, map[string]string{"/keep": "vim\n"}},
		{"vim, in place", "vim", `vim -es -u NONE -i NONE -c 'set backupskip= writebackup backupcopy=yes' -c '%s/kept/vim/' -c wq keep`, map[string]string{"/keep": "vim\n"}},
		{"vim, a new file", "vim", `vim -es -u NONE -i NONE -c 'normal ihello' -c wq f.md`, map[string]string{"/f.md": "hello\n"}},
		{"vim, keeping its backup", "vim", `vim -es -u NONE -i NONE -c 'set backupskip= backup backupdir=. backupcopy=auto' -c '%s/kept/vim/' -c wq keep; grep -qx kept keep~`, map[string]string{"/keep": "vim\n"}},
		// Keys typed before nano has its terminal are lost: its lock file tells.
		{"nano", "nano", `{ until test -e .keep.swp; do :; done; printf 'typed \017\r\030'; } | timeout 30 script -qec 'nano -I -G keep' /dev/null`, map[string]string{"/keep": "typed kept\n"}},
		{"a shared mapping", "python3", `python3 -c "
import mmap
f = open('keep', 'r+b')
m = mmap.mmap(f.fileno(), 0)
f.close()
m[0:4] = b'KEPT'
m.close()
"`, map[string]string{"/keep": "KEPT\n"}},
		{"an unlinked file", "python3", `python3 -c "
import os
fd = os.open('keep', os.O_RDWR | os.O_APPEND)
os.write(fd, b'x')
os.unlink('keep')
os.write(fd, b'y')
assert os.pread(fd, 9, 0)[-2:] == b'xy'
assert os.fstat(fd).st_nlink == 0 and os.listdir('.') == []
os.close(fd)
"`, map[string]string{"/keep": "-"}},
		{"chown by its owner", "chown", `chown $(id -u):$(id -g) keep`, nil},
		{"chown by root", "chown", `test $(id -u) != 0 || chown 12345:12345 keep`, nil},
		{"temporaries", "sh", `for n in .f.swp .f.swo 4913 'f~' '.#f' '#f#' ._f .fuse_hidden01; do printf '\377' >"$n" && test -s "$n" || exit 1; done; rm 'f~'; test "$(ls -A | wc -l)" = 8`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			needTool(t, tt.tool)
			mem := newMem(t, map[string]string{"/keep": "kept\n"})
			opts := writable(t)
			s := mount(t, mem, opts)
			if out, err := shell(t, s.Dir(), tt.script); err != nil {
				t.Errorf("%s: %v\n%s", tt.script, err, out)
			}
			want := map[string]string{"/keep": "kept\n"}
			for path, text := range tt.want {
				want[path] = text
				if text == "-" {
					delete(want, path)
				}
			}
			if diff := cmp.Diff(want, stored(t, mem)); diff != "" {
				t.Errorf("the store differs (-want +got):\n%s", diff)
			}
			if c := s.Counters(); c.Conflicts != 0 {
				t.Errorf("%d edits were kept aside, none was to be", c.Conflicts)
			}
		})
	}
}

// TestRefused gives each refused operation its errno's words.
func TestRefused(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"hard link", "ln keep l", "not permitted"},
		{"symbolic link", "ln -s keep l", "not permitted"},
		{"pipe", "mkfifo p", "not permitted"},
		{"a directory over a file", "mkdir d; mv -T d keep", "directory"},
		{"a file over a directory", "mv -T keep full", "director"},
		{"bytes that are no text", `printf 'a\377' >f`, ""},
		{"too much", "head -c 1048577 /dev/zero >f", "too large"},
		{"a backslash", `: >'a\b'`, "nvalid"},
		{"a long path", `mkdir -p $(printf 'd%.0s' $(seq 200))/$(printf 'd%.0s' $(seq 200)) && : >$(printf 'd%.0s' $(seq 200))/$(printf 'd%.0s' $(seq 200))/$(printf 'd%.0s' $(seq 150))`, "too long"},
		{"a directory that is full", "rmdir full", "not empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/keep": "kept\n", "/full/x": "x\n"})
			s := mount(t, mem, writable(t))
			out, err := shell(t, s.Dir(), tt.script)
			if err == nil || !strings.Contains(out, tt.want) {
				t.Errorf("%s: error %v, output %q; want a failure with %q", tt.script, err, out, tt.want)
			}
			got := stored(t, mem)
			if got["/keep"] != "kept\n" || got["/full/x"] != "x\n" {
				t.Errorf("the store changed: %.200q", got)
			}
		})
	}
}

// TestLostRace: who comes second is told, and what was typed is kept.
func TestLostRace(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "base\n"})
	opts := writable(t)
	s := mount(t, mem, opts)
	look := newLooker(t)
	f := under(s, "/f")
	look.ask("edit", f)
	look.ask("type", f+" mine")
	write(t, mem, "/f", "the agent's\n")
	if got, want := look.ask("close", f), "error: stale file handle"; got != want {
		t.Errorf("close said %q, want %q", got, want)
	}
	if got := stored(t, mem)["/f"]; got != "the agent's\n" {
		t.Errorf("the store has %q", got)
	}
	if got := look.ask("read", f); got != `"the agent's\n"` {
		t.Errorf("the mount shows %s", got)
	}
	kept, err := filepath.Glob(filepath.Join(opts.StateDir, "conflicts", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept aside: %q, %v; want one file", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != "mine\n" {
		t.Errorf("kept aside: %q, %v; want what was typed over what was there", data, err)
	}
	if got := s.Counters().Conflicts; got != 1 {
		t.Errorf("Conflicts is %d, want 1", got)
	}
	if out, err := shell(t, s.Dir(), "echo again >>f"); err != nil {
		t.Errorf("the next edit fails: %v %s", err, out)
	}
}

// TestEditorLeavesNoGap: an editor that moves the old text away before it writes
// the new one must not make the agent find nothing.
func TestEditorLeavesNoGap(t *testing.T) {
	needTool(t, "vim")
	mem := newMem(t, map[string]string{"/f": "one\n"})
	s := mount(t, mem, writable(t))
	var mu sync.Mutex
	var events []string
	watched, ready := t.Context(), make(chan struct{})
	go vfs.Watch(watched, mem, "/", func(e vfs.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Overflow {
			close(ready)
			return
		}
		events = append(events, fmt.Sprintf("%s there=%v", e.Path, e.Info.Revision != ""))
	})
	<-ready
	if out, err := shell(t, s.Dir(), `vim -es -u NONE -i NONE -c 'set backupskip= writebackup backupcopy=no' -c '%s/one/two/' -c wq f`); err != nil {
		t.Fatalf("vim: %v\n%s", err, out)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"/f there=true"}, events); diff != "" {
		t.Errorf("the agent saw (-want +got):\n%s", diff)
	}
}

// TestMovedAway: a file renamed to a temporary name goes when that is removed,
// and is back when it is renamed back.
func TestMovedAway(t *testing.T) {
	tests := []struct {
		name, script string
		want         map[string]string
	}{
		{"removed", "mv f f~; test ! -e f; rm f~; test ! -e f", map[string]string{}},
		{"back", "mv f f~; mv f~ f; grep -qx one f", map[string]string{"/f": "one\n"}},
		{"on to another name", "mv f f~; mv f~ g", map[string]string{"/g": "one\n"}},
		{"over another one", "mv f f~; echo g >g; mv g f~; test ! -e f; rm f~", map[string]string{}},
		{"replaced", "mv f f~; echo two >f; rm f~", map[string]string{"/f": "two\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/f": "one\n"})
			s := mount(t, mem, writable(t))
			if out, err := shell(t, s.Dir(), tt.script); err != nil {
				t.Errorf("%s: %v\n%s", tt.script, err, out)
			}
			if diff := cmp.Diff(tt.want, stored(t, mem)); diff != "" {
				t.Errorf("the store differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRenameKeepsInode: a renamed file is the same file, also while it is open
// for writing, over another one, and before it is in the store.
func TestRenameKeepsInode(t *testing.T) {
	tests := []struct{ name, prepare, from, to string }{
		{"closed", "echo x >a", "a", "d/b"},
		{"over another", "echo x >a; echo y >d/b", "a", "d/b"},
		{"open", "echo x >a; exec 3>>a", "a", "d/b"},
		{"open, over another", "echo x >a; echo y >d/b; exec 3>>a", "a", "d/b"},
		{"open, both", "echo x >a; echo y >d/b; exec 3>>a 4>>d/b", "a", "d/b"},
		{"changed, not committed", "echo x >a; exec 3>>a; echo z >&3", "a", "b"},
		{"from a temporary name", "echo x >a~; echo y >a", "a~", "a"},
		{"to a temporary name", "echo x >a", "a", "a~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mount(t, newMem(t, nil), writable(t))
			out, err := shell(t, s.Dir(), fmt.Sprintf(`mkdir d; %s; stat -c %%i %s && mv %s %s && stat -c %%i %s`,
				tt.prepare, tt.from, tt.from, tt.to, tt.to))
			if inodes := strings.Fields(out); err != nil || len(inodes) != 2 || inodes[0] != inodes[1] {
				t.Errorf("before and after: %q, %v", inodes, err)
			}
		})
	}
}

// TestReaderOfAnEdit: who has a file open sees what is typed into it, as on any file
// system; what an agent writes meanwhile is another file, and neither is mixed with it.
func TestReaderOfAnEdit(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "old\n"})
	s := mount(t, mem, writable(t))
	look := newLooker(t)
	f := under(s, "/f")
	look.ask("open", f)
	if out, err := shell(t, s.Dir(), "exec 3>>f; echo typed >&3; cat f; exec 3>&-"); err != nil || out != "old\ntyped\n" {
		t.Fatalf("%v %s", err, out)
	}
	if got := look.ask("rest", f); got != `"old\ntyped\n"` {
		t.Errorf("who had it open reads %s", got)
	}
	look.ask("close", f)

	look.ask("open", f)
	old := body(1, 5000)
	write(t, mem, "/f", old)
	writer := newLooker(t)
	writer.ask("edit", f)
	look.ask("close", f)
	look.ask("open", f)
	write(t, mem, "/f", "the agent's\n")
	if got := writer.ask("type", f+" mine"); got != "" {
		t.Fatal(got)
	}
	if got := look.ask("rest", f); got != quoted("mine"+old[4:]) {
		t.Errorf("who opened the edited file reads %.80s", got)
	}
	if got := newLooker(t).ask("read", f); got != `"the agent's\n"` {
		t.Errorf("who opens the agent's file reads %s", got)
	}
	if got, want := writer.ask("close", f), "error: stale file handle"; got != want {
		t.Errorf("closing the edit: %q, want %q", got, want)
	}
}

// TestAgentAndDeveloper changes one directory from both sides at once: nothing
// may hang, and in the end both must see the same.
func TestAgentAndDeveloper(t *testing.T) {
	mem := newMem(t, map[string]string{"/d/a": "0\n"})
	s := mount(t, mem, writable(t))
	rounds := loops() / 10
	var agent sync.WaitGroup
	agent.Go(func() {
		for n := range rounds * 5 {
			write(t, mem, "/d/a", fmt.Sprintln(n))
			write(t, mem, "/d/b", fmt.Sprintln(n))
			remove(t, mem, "/d/b")
		}
	})
	script := fmt.Sprintf(`cd d; i=0; while [ $i -lt %d ]; do
		echo $i >c; cat a c >/dev/null; echo $i >>c; mv c e; mkdir s; echo x >s/x; rm -r s; rm e; ls -l >/dev/null; i=$((i+1)); done`, rounds)
	if out, err := shell(t, s.Dir(), script); err != nil {
		t.Errorf("%v\n%.2000s", err, out)
	}
	agent.Wait()
	if got, want := run(t, "sh", "-c", "cd "+s.Dir()+"; find . -type f | sort; cat d/a"), fmt.Sprintf("./d/a\n%d\n", rounds*5-1); got != want {
		t.Errorf("the mount shows %q, want %q", got, want)
	}
	if diff := cmp.Diff(map[string]string{"/d/a": fmt.Sprintln(rounds*5 - 1)}, stored(t, mem)); diff != "" {
		t.Errorf("the store differs (-want +got):\n%s", diff)
	}
}

// TestLikeNative does random operations on the mount and on a native file system
// and compares every outcome.
func TestLikeNative(t *testing.T) {
	needTool(t, "python3")
	script, err := filepath.Abs("testdata/compare.py")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range testsize.Pick(1, 1, 100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			mem := newMem(t, nil)
			s := mount(t, mem, writable(t))
			if out, err := tryRun(t, "python3", script, s.Dir(), t.TempDir(), fmt.Sprint(seed), fmt.Sprint(testsize.Pick(1500, 1500, 4000))); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
