//go:build linux

package fusebridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestListings: every entry exactly once, for ls and for Go, at every size of
// directory and name around the edges of the kernel's buffers.
func TestListings(t *testing.T) {
	sizes := []int{1, 2, 25, 26, 27, 28, 100, 127, 128, 129, 511, 1000, 3000}
	names := []func(int) string{
		func(i int) string { return fmt.Sprint(i) },
		func(i int) string { return fmt.Sprintf("%s-%d", strings.Repeat("long", 1+i%49), i) },
		func(i int) string { return fmt.Sprintf("%s%d 文件", strings.Repeat("漢字", 1+i%30), i) },
	}
	files := map[string]string{}
	want := map[string][]string{}
	for _, n := range sizes {
		for kind, name := range names {
			dir := fmt.Sprintf("d%d-%d", n, kind)
			for i := range n {
				files["/"+dir+"/"+name(i)] = ""
				want[dir] = append(want[dir], name(i))
			}
			slices.Sort(want[dir])
		}
	}
	s := mount(t, newMem(t, files), nil)
	look := newLooker(t)
	for dir, names := range want {
		for _, round := range []string{"cold", "warm"} {
			byGo, err := list(under(s, "/"+dir)) // cold: this process's first look fills the kernel's cache
			if err != nil {
				t.Fatal(err)
			}
			if other := look.ask("list", under(s, "/"+dir)); other != byGo {
				t.Errorf("%s, %s: two processes of Go see different listings", dir, round)
			}
			byLs := strings.Split(strings.TrimSuffix(run(t, "env", "LC_ALL=C", "ls", "-N", under(s, "/"+dir)), "\n"), "\n")
			if diff := cmp.Diff(names, byLs); diff != "" {
				t.Errorf("%s, %s: ls (-want +got):\n%s", dir, round, diff)
			}
			if got := strings.Count(byGo, " ") - strings.Count(strings.Join(names, ""), " ") + 1; got != len(names) {
				t.Errorf("%s, %s: Go lists %d names, want %d", dir, round, got, len(names))
			}
		}
	}
}

// TestAttributes: modes, sizes, blocks, owner and times, the same after a
// remount.
func TestAttributes(t *testing.T) {
	mem := newMem(t, map[string]string{"/empty": "", "/one": "1", "/full": strings.Repeat("x", 1<<20), "/d/below": "b"})
	write(t, mem, "/dated", "now\n")
	const format = "%n %A %s %b %h %u %g %i %y"
	look := func() string {
		s := mount(t, mem, nil)
		return run(t, "sh", "-c", "cd "+s.Dir()+" && stat -c '"+format+"' empty one full dated d")
	}
	first := look()
	lines := strings.Split(strings.TrimSpace(first), "\n")
	uid := fmt.Sprintf(" %d %d ", os.Getuid(), os.Getgid())
	for i, want := range []string{
		"empty -r--r--r-- 0 0 1" + uid, "one -r--r--r-- 1 1 1" + uid, "full -r--r--r-- 1048576 2048 1" + uid,
		"dated -r--r--r-- 4 1 1" + uid, "d dr-xr-xr-x 0 0 2" + uid,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("stat says %q, want %q…", lines[i], want)
		}
	}
	info, err := vfs.Stat(t.Context(), mem, "/dated")
	if err != nil {
		t.Fatal(err)
	}
	if want := info.ModTime.Format("2006-01-02 15:04:05.000"); !strings.Contains(lines[3], want) {
		t.Errorf("stat says %q, want the time %s", lines[3], want)
	}
	inodes := regexp.MustCompile(`(?m)^(\S+) .* (\d+) \d{4}-`)
	second := look()
	if diff := cmp.Diff(inodes.FindAllStringSubmatch(first, -1), inodes.FindAllStringSubmatch(second, -1)); diff != "" {
		t.Errorf("inodes changed with the remount (-first +second):\n%s", diff)
	}
	if again := strings.Split(strings.TrimSpace(second), "\n")[3]; again != lines[3] {
		t.Errorf("after a remount stat says %q, before %q", again, lines[3])
	}
}

// TestCopies: tools that look at blocks and times copy all, and find nothing
// moving.
func TestCopies(t *testing.T) {
	for _, tool := range []string{"du", "cp", "tar", "rsync"} {
		needTool(t, tool)
	}
	s := mount(t, newMem(t, map[string]string{"/f": strings.Repeat("0123456\n", 1<<17), "/z": strings.Repeat("\x00", 1<<20), "/d/g": "g"}), nil)
	script := `set -e; m=$0; t=$1; test "$(du -b $m/f | cut -f1)" = 1048576; test "$(du -k $m/f | cut -f1)" = 1024
		cp --sparse=auto -r $m $t/cp; diff -r $m $t/cp
		tar cSf $t/a.tar -C $m .; tar cf $t/b.tar -C $m . ; mkdir $t/tar; tar xf $t/a.tar -C $t/tar; diff -r $m $t/tar
		rsync -a $m/ $t/rsync; rsync -aS $m/ $t/sparse; diff -r $m $t/rsync; diff -r $m $t/sparse; test -z "$(rsync -ani $m/ $t/rsync)"`
	out := t.TempDir()
	run(t, "sh", "-c", script, s.Dir(), out)
	run(t, "chmod", "-R", "u+w", out) // so that it can be removed
}

// TestMonotone: a change is one step of size and time, never back, never empty.
func TestMonotone(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": body(0, 9)})
	s := mount(t, mem, nil)
	look := newLooker(t)
	lastSize, lastTime := -1, int64(-1)
	for n := range loops() / 10 {
		text := body(n, 10+n)
		write(t, mem, "/f", text)
		for range 3 {
			var ino uint64
			var size, blocks, nlink int
			var mtime int64
			answer := look.ask("stat", under(s, "/f"))
			if _, err := fmt.Sscanf(answer, "ino=%d size=%d blocks=%d mtime=%d nlink=%d", &ino, &size, &blocks, &mtime, &nlink); err != nil {
				t.Fatalf("%s: %v", answer, err)
			}
			if size != len(text) || size < lastSize || mtime < lastTime || ino == 0 {
				t.Fatalf("after write %d of %d bytes: %s; before: size %d, mtime %d", n, len(text), answer, lastSize, lastTime)
			}
			lastSize, lastTime = size, mtime
		}
	}
}

// TestNames shows every name that a store can hold.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", 300) + ".md"
	other := strings.Repeat("n", 301) + ".md"
	kanji := strings.Repeat("漢", 100)
	files := map[string]string{
		"/both": "file", "/both/below": "1",
		"/taken": "file", "/taken/below": "1", "/taken@file": "real",
		"/" + long: "long", "/" + other: "other", "/" + kanji + "/" + kanji + ".txt": "kanji",
		"/" + long + "/below":              "1",
		"/ *?[a]%_~'\"$`;&|<>(){}!#\u00a0": "special", "/-rf": "dash", "/...": "dots", "/..b": "dots",
		"/U\u0308bung": "decomposed", "/\u00dcbung": "composed", "/emoji😀": "emoji", "/\ue000": "private",
	}
	s := mount(t, newMem(t, files), nil)
	look := newLooker(t)
	short := func(path string) string { // the only name in the root that starts like it
		t.Helper()
		ext := filepath.Ext(path)
		re := regexp.MustCompile("^" + regexp.QuoteMeta(path[:100]) + ".*~[0-9a-f]{8}(" + regexp.QuoteMeta(ext) + ")?/?$")
		entries, err := os.ReadDir(under(s, filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if len(e.Name()) > 255 {
				t.Errorf("a name of %d bytes shows", len(e.Name()))
			}
			if re.MatchString("/" + e.Name()) {
				return e.Name()
			}
		}
		t.Fatalf("nothing in the listing stands for %.20s…", path)
		return ""
	}
	for shown, want := range map[string]string{
		"/both@file": "file", "/both/below": "1", "/taken@@file": "file", "/taken@file": "real",
		"/ *?[a]%_~'\"$`;&|<>(){}!#\u00a0": "special", "/-rf": "dash", "/...": "dots", "/..b": "dots",
		"/U\u0308bung": "decomposed", "/\u00dcbung": "composed", "/emoji😀": "emoji", "/\ue000": "private",
	} {
		if got := look.ask("read", under(s, shown)); got != quoted(want) {
			t.Errorf("%q shows %s, want %q", shown, got, want)
		}
	}
	if short("/"+long) == "" || short("/"+kanji) == "" {
		t.Error("long names do not show")
	}
	var texts []string
	out := run(t, "find", s.Dir(), "-type", "f", "-exec", "cat", "{}", ";", "-printf", "\n")
	texts = append(texts, strings.Fields(out)...)
	slices.Sort(texts)
	var want []string
	for _, text := range files {
		want = append(want, text)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("find sees (-want +got):\n%s", diff)
	}
}

// TestShapes: deep, wide and empty stores.
func TestShapes(t *testing.T) {
	t.Run("empty", func(t *testing.T) {
		s := mount(t, newMem(t, nil), nil)
		if got := run(t, "find", s.Dir()); got != s.Dir()+"\n" {
			t.Errorf("find says %q", got)
		}
	})
	t.Run("deep", func(t *testing.T) {
		path := strings.Repeat("/d", 250) + "/file"
		mem := newMem(t, map[string]string{path: "deep\n", strings.Repeat("/100", 100) + "/x": "x\n"})
		s := mount(t, mem, nil)
		if got := run(t, "cat", under(s, path)); got != "deep\n" {
			t.Errorf("cat says %q", got)
		}
		if got := strings.Count(run(t, "find", s.Dir()), "\n"); got != 1+251+101 {
			t.Errorf("find lists %d paths", got)
		}
		remove(t, mem, path)
		if got := newLooker(t).ask("list", s.Dir()); got != "100/" {
			t.Errorf("with the only file gone the root lists %q", got)
		}
	})
	t.Run("wide", func(t *testing.T) {
		n := testsize.Pick(50_000, 50_000, 1_000_000)
		files := make(map[string]string, n)
		for i := range n {
			files[fmt.Sprintf("/all/%07d", i)] = "x"
		}
		mem := newMem(t, files)
		begin := time.Now()
		s := mount(t, mem, nil)
		t.Logf("%d files mounted in %v", n, time.Since(begin))
		begin = time.Now()
		if got := strings.TrimSpace(run(t, "sh", "-c", "ls -U "+under(s, "/all")+" | wc -l")); got != fmt.Sprint(n) {
			t.Errorf("ls lists %s of %d", got, n)
		}
		t.Logf("listed in %v", time.Since(begin))
		begin = time.Now()
		write(t, mem, "/all/new", "new\n")
		if got := run(t, "cat", under(s, "/all/new")); got != "new\n" {
			t.Errorf("the new file has %q", got)
		}
		t.Logf("one change shown in %v", time.Since(begin))
	})
}

// TestXAttr shows where files come from, and only when asked to.
func TestXAttr(t *testing.T) {
	mem := newMem(t, map[string]string{"/a": "x", "/a/b": "y"})
	info, err := vfs.Stat(t.Context(), mem, "/a")
	if err != nil {
		t.Fatal(err)
	}
	s := mount(t, mem, &fusebridge.Options{XAttr: true})
	look := newLooker(t)
	for attr, want := range map[string]string{
		"user.goliathfs.path": "/a", "user.goliathfs.revision": string(info.Revision), "user.goliathfs.route": "/",
		"user.other": "error: no data available",
	} {
		if got := look.ask("xattr", under(s, "/a@file")+" "+attr); got != want {
			t.Errorf("%s is %q, want %q", attr, got, want)
		}
	}
	off := mount(t, mem, nil)
	if got := look.ask("xattr", under(off, "/a@file")+" user.goliathfs.path"); got != "error: operation not supported" {
		t.Errorf("without the option: %q", got)
	}
}

// TestMemory: what the server needs over the contents is bounded.
func TestMemory(t *testing.T) {
	const n, most = 10_000, 10 << 20
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("/d%d/file-%d.md", i%100, i)] = strings.Repeat("text ", 1000)
	}
	mem := newMem(t, files)
	before := heap()
	s := mount(t, mem, nil)
	run(t, "sh", "-c", "cat "+s.Dir()+"/*/* | wc -c")
	used := int64(heap()) - int64(before)
	t.Logf("%d files touched, the server needs %d KiB", n, used>>10)
	if used > most {
		t.Errorf("the server needs %d bytes over the contents, at most %d are allowed", used, most)
	}
	runtime.KeepAlive(mem)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestReadOnly: every change is refused before it begins.
func TestReadOnly(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "kept\n"})
	s := mount(t, mem, nil)
	before := stored(t, mem)
	for _, script := range []string{
		"touch f", "touch g", "echo x >f", "echo x >>f", "rm f", "mv f g", "mkdir d", "sed -i s/k/K/ f", "truncate -s 0 f", "ln -s f l", "chmod 600 f",
	} {
		if out, err := shell(t, s.Dir(), script); err == nil || !strings.Contains(strings.ToLower(out), "read-only") {
			t.Errorf("%s: %v, %q; want it refused as read-only", script, err, out)
		}
	}
	if diff := cmp.Diff(before, stored(t, mem)); diff != "" {
		t.Errorf("the store changed:\n%s", diff)
	}
	if out := run(t, "ls", "-A", s.Dir()); out != "f\n" {
		t.Errorf("strays: %q", out)
	}
}
