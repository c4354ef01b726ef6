package staticfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// hostFolder makes a folder that holds what can be stored and what cannot.
func hostFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.txt":                  "one\r\n",
		"d/e/deep.md":            "\ufeffdeep",
		"d-/x":                   "",
		"most":                   strings.Repeat("x", 1<<20),
		"toolarge":               strings.Repeat("x", 1<<20+1),
		"binary":                 "\x00\xff\xfe",
		"back\\slash":            "x",
		"new\nline/below":        "x",
		"bad\xffname":            "x",
		".hidden":                "h",
		"é😀*?[x]% _":             "special",
		"outside/target/f":       "t",
		strings.Repeat("n", 255): "long name",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "a.txt", "linkdir": "outside/target", "dangling": "nowhere", "up": "..", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFromDir(t *testing.T) {
	dir := hostFolder(t)
	mod := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), mod, mod); err != nil {
		t.Fatal(err)
	}
	s, refused, err := staticfs.FromDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/a.txt": "one\r\n", "/d/e/deep.md": "\ufeffdeep", "/d-/x": "", "/most": strings.Repeat("x", 1<<20), "/.hidden": "h",
		"/é😀*?[x]% _": "special", "/outside/target/f": "t", "/" + strings.Repeat("n", 255): "long name",
	}
	if diff := cmp.Diff(want, s.Contents()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if info, err := vfs.Stat(t.Context(), s, "/a.txt"); err != nil || !info.ModTime.Equal(mod) {
		t.Errorf("the time of /a.txt is %v, %v, want the host's %v", info.ModTime, err, mod)
	}
	const link = "it is a symbolic link, which is not followed; copy what it points to"
	wantRefused := []string{
		`"/bad\xffname": invalid path: it is not valid UTF-8`,
		`"/new\nline": invalid path: the control character U+000A is not allowed`,
		`/back\slash: invalid path: a backslash is not allowed, separate with /`,
		"/binary: the content is not valid UTF-8: only text can be stored, encode it first",
		"/dangling: " + link, "/fifo: it is not a regular file, only those can be stored",
		"/link: " + link, "/linkdir: " + link, "/loop: " + link,
		"/toolarge: the content is too large: 1048577 bytes where at most 1048576 fit",
		"/up: " + link,
	}
	if diff := cmp.Diff(wantRefused, lines(refused)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	again, _, err := staticfs.FromDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for info, err := range walk.Files(t.Context(), s, "/") {
		if other, err2 := vfs.Stat(t.Context(), again, info.Path); err != nil || err2 != nil || other.Revision != info.Revision {
			t.Errorf("%s is at %q, loaded again at %q (%v, %v)", info.Path, info.Revision, other.Revision, err, err2)
		}
	}
}

func lines(refused []leftout.Entry) []string {
	var out []string
	for _, r := range refused {
		out = append(out, r.Error())
	}
	slices.Sort(out)
	return out
}

func TestFromDirIsASnapshot(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, _, err := staticfs.FromDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("after"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := vfs.Read(t.Context(), s, "/a"); err != nil || f.Content != "before" {
		t.Errorf("Read = %q, %v, want what was loaded", f.Content, err)
	}
}

func TestFromDirFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), file, ""} {
		if s, _, err := staticfs.FromDir(t.Context(), dir); err == nil || s != nil {
			t.Errorf("FromDir(%q) = %v, %v, want an error", dir, s, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := staticfs.FromDir(ended, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("FromDir under an ended context = %v, want %v", err, context.Canceled)
	}
}

// A folder that a link leads to is loaded; only links below it are not followed.
func TestFromDirThroughALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if s, refused, err := staticfs.FromDir(t.Context(), link); err != nil || s.Len() != 1 || len(refused) > 0 {
		t.Errorf("FromDir = %v, %v, %v, want one file", s, refused, err)
	}
}

func TestFromFSRefuses(t *testing.T) {
	long := strings.Repeat("d/", 255)
	fsys := fstest.MapFS{
		"ok":         {Data: []byte("x"), ModTime: time.Unix(5, 0)},
		"link":       {Data: []byte("ok"), Mode: fs.ModeSymlink},
		"dev":        {Mode: fs.ModeDevice},
		"socket":     {Mode: fs.ModeSocket},
		"not\x7fall": {Data: []byte("x")},
		"a b/c":      {Mode: fs.ModeDevice},
		long + "f":   {Data: []byte("512 units")},
		long + "ff":  {Data: []byte("513 units")},
	}
	s, refused, err := staticfs.FromFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"/ok": "x", "/" + long + "f": "512 units"}, s.Contents()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := []string{
		`"/not\x7fall": invalid path: the control character U+007F is not allowed`,
		"/a b/c: it is not a regular file, only those can be stored",
		"/" + long + "ff: invalid path: it is longer than 512 UTF-16 code units",
		"/dev: it is not a regular file, only those can be stored",
		"/link: it is a symbolic link, which is not followed; copy what it points to",
		"/socket: it is not a regular file, only those can be stored",
	}
	if diff := cmp.Diff(want, lines(refused)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// failFS fails where a disk would.
type failFS struct{ fstest.MapFS }

var errDisk = errors.New("input/output error")

func (f failFS) Open(name string) (fs.File, error) {
	if strings.Contains(name, "unreadable") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	file, err := f.MapFS.Open(name)
	if err == nil && strings.Contains(name, "broken") {
		return brokenFile{file}, nil
	}
	return file, err
}

func (f failFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if strings.Contains(name, "locked") || name == "." && f.MapFS["fail root"] != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.ReadDir(name)
}

func (failFS) ReadFile(string) ([]byte, error) { return nil, errDisk }

type brokenFile struct{ fs.File }

func (brokenFile) Read([]byte) (int, error) { return 0, errDisk }

func TestFromFSGoesOn(t *testing.T) {
	fsys := failFS{fstest.MapFS{"a": {}, "unreadable": {}, "locked/x": {}, "locked/y/z": {}, "broken": {}, "z": {}}}
	s, refused, err := staticfs.FromFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"/a": "", "/z": ""}, s.Contents()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := []string{"/broken: input/output error", "/locked: permission denied", "/unreadable: permission denied"}
	if diff := cmp.Diff(want, lines(refused)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	for _, r := range refused {
		if !errors.Is(r.Err, fs.ErrPermission) && !errors.Is(r.Err, errDisk) {
			t.Errorf("the reason of %s does not match its cause: %v", r.Path, r.Err)
		}
	}
	if _, _, err := staticfs.FromFS(t.Context(), failFS{fstest.MapFS{"fail root": {}}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("FromFS of an unreadable root = %v, want %v", err, fs.ErrPermission)
	}
}

// swapFS lists regular files that are devices when they are opened.
type swapFS struct{ fstest.MapFS }

func (f swapFS) Open(name string) (fs.File, error) {
	if file := f.MapFS[name]; file != nil {
		return fstest.MapFS{name: {Data: file.Data, Mode: fs.ModeDevice}}.Open(name)
	}
	return f.MapFS.Open(name)
}

// What is not a file any more when it is opened is not read.
func TestFromFSReplacedMeanwhile(t *testing.T) {
	s, refused, err := staticfs.FromFS(t.Context(), swapFS{fstest.MapFS{"a": {Data: []byte("x")}}})
	if err != nil || s.Len() != 0 {
		t.Errorf("FromFS = %v, %v, want no file", s, err)
	}
	if diff := cmp.Diff([]string{"/a: it is not a regular file, only those can be stored"}, lines(refused)); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// growFS has files that are empty when they are looked at and larger when they
// are read, as a log that is being written may be, or a file of /proc.
type growFS struct{ fstest.MapFS }

func (g growFS) Open(name string) (fs.File, error) {
	file, err := g.MapFS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	return grownFile{file}, nil
}

type grownFile struct{ fs.File }

func (grownFile) Stat() (fs.FileInfo, error) { return fstest.MapFS{"f": {}}.Stat("f") }

// What grows beyond the limit is refused, not cut there.
func TestFromFSOfGrowingFiles(t *testing.T) {
	fsys := growFS{fstest.MapFS{"most": {Data: make([]byte, 1<<20)}, "more": {Data: make([]byte, 1<<20+1)}, "much": {Data: make([]byte, 3<<20)}}}
	s, refused, err := staticfs.FromFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := vfs.Read(t.Context(), s, "/most"); err != nil || s.Len() != 1 || f.Size != 1<<20 {
		t.Errorf("%d files, /most has %d bytes, %v", s.Len(), f.Size, err)
	}
	for _, r := range refused {
		if !errors.Is(r.Err, vfs.ErrTooLarge) {
			t.Errorf("%v, want %v", r, vfs.ErrTooLarge)
		}
	}
	if len(refused) != 2 {
		t.Errorf("refused are %v, want more and much", refused)
	}
}

func ExampleFromFS() {
	s, refused, err := staticfs.FromFS(context.Background(), fstest.MapFS{
		"guide.md": {Data: []byte("# Guide\n")},
		"logo.png": {Data: []byte("\x89PNG")},
	})
	if err != nil {
		panic(err)
	}
	for _, r := range refused {
		fmt.Println("left out:", r)
	}
	f, err := vfs.Read(context.Background(), s, "/guide.md")
	fmt.Printf("%q %v\n", f.Content, err)
	// Output:
	// left out: /logo.png: the content is not valid UTF-8: only text can be stored, encode it first
	// "# Guide\n" <nil>
}
