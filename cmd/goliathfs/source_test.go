package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// TestWholeSource takes the source of Go, some ten thousand files, through
// Badger, memory and a mount: what is text and fits comes back byte for byte,
// and everything else is named. Without GOLIATHFS_FULL it takes a part with
// many files that are no text.
func TestWholeSource(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it copies a hundred megabytes several times")
	}
	src := goSource(t)
	want, refused := sortSource(t, src)
	var o storeurl.Opener
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	in, err := hostdir.Open(src, false)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	badger, memory := openURL(t, &o, "badger:"+storeurl.Escape(filepath.Join(t.TempDir(), "store"))), openURL(t, &o, "mem:")

	named := copyAll(t, in, badger, want)
	if diff := cmp.Diff(refused, named); diff != "" {
		t.Errorf("what is no text or too large (-source +named):\n%s", diff)
	}
	if named := copyAll(t, badger, memory, want); len(named) > 0 {
		t.Errorf("memory refuses what Badger takes: %v", named)
	}
	out := filepath.Join(t.TempDir(), "out")
	copyOut(t, memory, out)
	if arrived, _ := sortSource(t, out); !maps.Equal(want, arrived) {
		t.Errorf("%d files came back, and they are not the %d texts of the source", len(arrived), len(want))
	}
	t.Run("mount", func(t *testing.T) { compareMount(t, badger, src, refused) })
}

func goSource(t *testing.T) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	src, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(root)), "src", testsize.Pick("debug", "debug", ".")))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// sortSource returns the texts below dir, and the names of all other files.
func sortSource(t *testing.T, dir string) (texts map[string]string, others map[string]bool) {
	t.Helper()
	texts, others = map[string]string{}, map[string]bool{}
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			others["/"+name] = true
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if len(data) > 1<<20 || !utf8.Valid(data) {
			others["/"+name] = true
		} else {
			texts["/"+name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, others
}

func openURL(t *testing.T, o *storeurl.Opener, url string) vfs.Backend {
	t.Helper()
	u, err := storeurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Open(t.Context(), storeurl.Spec{URL: u}, storeurl.Want{Write: true, Create: true, Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Backend
}

// copyAll copies, compares what arrived, and returns what was refused.
func copyAll(t *testing.T, src, dst vfs.Backend, want map[string]string) map[string]bool {
	t.Helper()
	refused := map[string]bool{}
	_, err := transfer.Copy(t.Context(), src, dst, transfer.Options{NoVerify: true, Report: func(s transfer.Step) {
		if s.Action == transfer.Fail {
			refused[s.Path] = true
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for info, err := range walk.Files(t.Context(), dst, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), dst, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := want[f.Path]; !ok || text != f.Content {
			t.Errorf("%s is not what it was", f.Path)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d files arrived, want %d", n, len(want))
	}
	return refused
}

func copyOut(t *testing.T, src vfs.Backend, dir string) {
	t.Helper()
	out, err := hostdir.Open(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if res, err := transfer.Copy(t.Context(), src, out, transfer.Options{}); err != nil || res.Failed > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// compareMount has diff(1) read the mount and the source.
func compareMount(t *testing.T, b vfs.Backend, src string, refused map[string]bool) {
	if err := fusebridge.Probe().Err; err != nil {
		t.Skip(err)
	}
	diff, err := exec.LookPath("diff")
	if err != nil {
		t.Skip("there is no diff(1) here")
	}
	mnt := t.TempDir()
	server, err := fusebridge.Mount(t.Context(), b, mnt, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
		if err := server.Wait(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.CommandContext(t.Context(), diff, "-rq", src, mnt)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	text, err := cmd.Output() // it fails when there is a difference
	for line := range strings.Lines(string(text)) {
		dir, name, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "Only in "+src), ": ")
		if !ok || !anyBelow(refused, dir+"/"+name) {
			t.Errorf("diff says %q", line)
		}
	}
	if len(text) == 0 && len(refused) > 0 {
		t.Errorf("diff finds nothing: %v", err)
	}
}

// anyBelow reports whether a refused file is at path or below it: a directory
// that has nothing else is missing as a whole.
func anyBelow(refused map[string]bool, path string) bool {
	for name := range refused {
		if name == path || strings.HasPrefix(name, path+"/") {
			return true
		}
	}
	return false
}
