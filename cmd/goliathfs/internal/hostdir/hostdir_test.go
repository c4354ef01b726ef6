package hostdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/vfs"
)

func open(t *testing.T, name string) *hostdir.Dir {
	t.Helper()
	d, err := hostdir.Open(name, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func paths(t *testing.T, d *hostdir.Dir, dir string, limit int) []string {
	t.Helper()
	var found []string
	for opts := (vfs.ListOptions{Limit: limit}); ; {
		page, err := vfs.List(t.Context(), d, dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Files {
			found = append(found, info.Path)
		}
		if opts.After = page.Next; page.Next == "" {
			return found
		}
	}
}

func TestListOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x", "a-b/y", "a.txt", "\uE000", "\U0001F600", "a/\U0001F600", "z"} {
		put(t, dir, name, name)
	}
	d := open(t, dir)
	want := []string{"/a-b/y", "/a.txt", "/a/x", "/a/\U0001F600", "/z", "/\U0001F600", "/\uE000"}
	for limit := 1; limit <= 8; limit++ {
		if diff := cmp.Diff(want, paths(t, d, "/", limit)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	if diff := cmp.Diff([]string{"/a/x", "/a/\U0001F600"}, paths(t, d, "/a", 0)); diff != "" {
		t.Errorf("/a (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/a.txt"}, paths(t, d, "/a.txt", 0)); diff != "" {
		t.Errorf("/a.txt (-want +got):\n%s", diff)
	}
}

// TestNeverOutside: no link, wherever it stands, is followed in or out.
func TestNeverOutside(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "secret")
	put(t, dir, "inside/file", "x")
	for link, target := range map[string]string{
		"file": filepath.Join(outside, "secret"),
		"dir":  outside,
		"up":   "..",
		"loop": "loop",
		"side": "inside",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, dir)
	if diff := cmp.Diff([]string{"/inside/file"}, paths(t, d, "/", 0)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	problems, err := d.LeftOut(t.Context())
	if err != nil || len(problems) != 5 {
		t.Errorf("problems: %v, %v", problems, err)
	}
	for _, path := range []string{"/file", "/dir/secret", "/up/x", "/side/file", "/loop", "/loop/x"} {
		if f, err := vfs.Read(t.Context(), d, path); err == nil {
			t.Errorf("%s is read: %q", path, f.Content)
		}
		if _, err := vfs.Write(t.Context(), d, path, "pwned", ""); err == nil {
			t.Errorf("%s is written", path)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is now %q, %v", got, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside there is now %v", entries)
	}
}

func TestWriteAndRemove(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	info, err := vfs.Write(t.Context(), d, "/a/b/c.md", "one", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), d, "/a/b/c.md", "two", ""); !errors.Is(err, vfs.ErrConflict) {
		t.Errorf("creating what exists: %v", err)
	}
	if _, err := vfs.Write(t.Context(), d, "/a/b/c.md", "two", "other"); !errors.Is(err, vfs.ErrConflict) {
		t.Errorf("replacing another version: %v", err)
	}
	if _, err := vfs.Write(t.Context(), d, "/a/b", "x", ""); err == nil || !strings.Contains(err.Error(), "a folder has this name") {
		t.Errorf("writing over a folder: %v", err)
	}
	if _, err := vfs.Write(t.Context(), d, "/a/b/c.md/d", "x", ""); err == nil || !strings.Contains(err.Error(), "is a file there") {
		t.Errorf("writing below a file: %v", err)
	}
	if _, err := vfs.Write(t.Context(), d, "/"+strings.Repeat("n", 300), "x", ""); err == nil || !strings.Contains(err.Error(), "255 bytes") {
		t.Errorf("a name that is too long: %v", err)
	}
	if _, err := vfs.Read(t.Context(), d, "/a/b"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("reading a folder: %v", err)
	}
	if err := vfs.Remove(t.Context(), d, "/a/b/c.md", info.Revision); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("after removing the last file there is %v", entries)
	}
}

func TestContentLimits(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "fits", strings.Repeat("x", 1<<20))
	put(t, dir, "over", strings.Repeat("x", 1<<20+1))
	put(t, dir, "binary", "\xff")
	put(t, dir, "huge", "")
	if err := os.Truncate(filepath.Join(dir, "huge"), 1<<40); err != nil { // takes no disk, and is not to take memory
		t.Fatal(err)
	}
	d := open(t, dir)
	for path, want := range map[string]error{"/fits": nil, "/over": vfs.ErrTooLarge, "/huge": vfs.ErrTooLarge, "/binary": vfs.ErrNotText} {
		if _, err := vfs.Read(t.Context(), d, path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "x")
	for _, name := range []string{filepath.Join(dir, "nope"), filepath.Join(dir, "file"), filepath.Join(dir, "file", "x")} {
		if d, err := hostdir.Open(name, false); err == nil {
			t.Errorf("%s is opened: %v", name, d.Close())
		}
	}
}

// TestLeftovers: what a killed run has left is no file here, nothing else can
// have such a name, and only who writes removes it.
func TestLeftovers(t *testing.T) {
	const left = ".goliathfs-999999999-1.tmp"
	dir := t.TempDir()
	put(t, dir, "sub/"+left, "half")
	mine := fmt.Sprintf(".goliathfs-%d-1.tmp", os.Getpid()) // of a run that goes on
	put(t, dir, mine, "half")
	put(t, dir, "sub/a", "whole")
	for _, writes := range []bool{false, true} {
		d, err := hostdir.Open(dir, writes)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if diff := cmp.Diff([]string{"/sub/a"}, paths(t, d, "/", 10)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if _, err := os.Stat(filepath.Join(dir, "sub", left)); (err != nil) != writes {
			t.Errorf("opened for writing %v: %v", writes, err)
		}
		if _, err := os.Stat(filepath.Join(dir, mine)); err != nil {
			t.Errorf("opened for writing %v: %v", writes, err)
		}
		if _, err := vfs.Write(t.Context(), d, "/"+left, "x", ""); err == nil || !strings.Contains(err.Error(), "rename it") {
			t.Errorf("a file gets the name of a temporary one: %v", err)
		}
	}
}

// TestRepositories: what git or hg would run is not written into a folder of the user's,
// at any depth, unless a person allows it.
func TestRepositories(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"/.git/config", "/sub/.hg/hgrc", "/.GIT"} {
		d := open(t, dir)
		if _, err := vfs.Write(t.Context(), d, path, "x", ""); !errors.Is(err, hostdir.ErrRepository) {
			t.Errorf("%s: %v, want %v", path, err, hostdir.ErrRepository)
		}
		d.AllowRepositories()
		if _, err := vfs.Write(t.Context(), d, path, "x", ""); err != nil {
			t.Errorf("%s, allowed: %v", path, err)
		}
	}
}

// TestExclude: a path that is left out shows neither itself nor what lies below it.
func TestExclude(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "out/b", "out-c", "deep/out/d"} {
		put(t, dir, name, "x")
	}
	d := open(t, dir)
	d.Exclude(filepath.Join(dir, "out"), filepath.Join(dir, "deep", "out", "d"), dir, filepath.Dir(dir))
	if diff := cmp.Diff([]string{"/a", "/out-c"}, paths(t, d, "/", 10)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
