package iofs_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/iofs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// least shows nothing of a store but vfs.Backend.
type least struct{ vfs.Backend }

// unsized hides the sizes that a store knows.
type unsized struct{ vfs.Backend }

func (u unsized) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := u.Backend.List(ctx, dir, opts)
	for i := range page.Files {
		page.Files[i].Size = -1
	}
	return page, err
}

func TestIOFS(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, "/many/"+strings.Repeat("x", i%7)+string(rune('À'+i)))
	}
	b := teststore.Paths(t, append(many, "/a.txt", "/d/e/f", "/d-/x", "/ü/深い/😀", "/\U0010FFFF/\uffff", "/*?[x]", "/ ", "/...", "/both", "/both/below",
		"/both@file", "/taken", "/taken/x", "/taken@file/y", "/taken@@file")...)
	for _, tt := range []struct {
		name string
		b    vfs.Backend
	}{{"all", b}, {"least", least{b}}, {"unsized", unsized{b}}} {
		t.Run(tt.name, func(t *testing.T) {
			err := fstest.TestFS(iofs.New(t.Context(), tt.b), "a.txt", "d/e/f", "d-/x", "ü/深い/😀", "\U0010FFFF/\uffff", "*?[x]", " ", "...",
				"both/below", "both@file", "both@@file", "taken/x", "taken@@@file", "taken@file/y", "taken@@file")
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := fstest.TestFS(iofs.New(t.Context(), teststore.Paths(t))); err != nil {
		t.Errorf("an empty store: %v", err)
	}
}

// Where a name is a file and a directory, both can be had.
func TestIOFSAside(t *testing.T) {
	fsys := iofs.New(t.Context(), teststore.Paths(t, "/both", "/both/below", "/both@file"))
	for name, want := range map[string]string{"both@@file": "/both", "both@file": "/both@file", "both/below": "/both/below"} {
		if got, err := fs.ReadFile(fsys, name); err != nil || string(got) != want {
			t.Errorf("ReadFile of %s = %q, %v, want %q", name, got, err, want)
		}
		if info, err := fs.Stat(fsys, name); err != nil || info.Size() != int64(len(want)) || info.IsDir() {
			t.Errorf("Stat of %s = %v, %v, want a file of %d bytes", name, info, err, len(want))
		}
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"both", "both@@file", "both@file"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, name := range []string{"both@@@file", "both@fil", "none@file", "@file"} {
		if _, err := fs.Stat(fsys, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat of %s = %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}

func TestIOFSErrors(t *testing.T) {
	fsys := iofs.New(t.Context(), teststore.Paths(t, "/d/f"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late := iofs.New(ended, teststore.Paths(t, "/d/f"))
	open := func(fsys fs.FS, name string) error { _, err := fsys.Open(name); return err }
	stat := func(fsys fs.FS, name string) error { _, err := fs.Stat(fsys, name); return err }
	read := func(fsys fs.FS, name string) error { _, err := fs.ReadFile(fsys, name); return err }
	readDir := func(fsys fs.FS, name string) error { _, err := fs.ReadDir(fsys, name); return err }
	for _, tt := range []struct {
		err  error
		want string
		is   error
	}{
		{open(fsys, "x"), "open x: no such file", fs.ErrNotExist},
		{open(fsys, "/d"), "open /d: invalid argument", fs.ErrInvalid},
		{open(fsys, "d/../d"), "open d/../d: invalid argument", fs.ErrInvalid},
		{open(fsys, `d\f`), `open d\f: invalid path: a backslash is not allowed, separate with /`, vfs.ErrInvalidPath},
		{stat(fsys, "d/x"), "stat d/x: no such file", fs.ErrNotExist},
		{read(fsys, "d"), "read d: it is a directory", nil},
		{read(fsys, "d/x"), "read d/x: no such file", fs.ErrNotExist},
		{readDir(fsys, "x"), "readdir x: no such file", fs.ErrNotExist},
		{readDir(fsys, "d/f"), "readdir d/f: it is not a directory", nil},
		{readDir(fsys, ""), "readdir : invalid argument", fs.ErrInvalid},
		{open(late, "d/f"), "open d/f: not begun: context canceled", context.Canceled},
		{readDir(late, "d"), "readdir d: not begun: context canceled", context.Canceled},
	} {
		if errorText(tt.err) != tt.want || tt.is != nil && !errors.Is(tt.err, tt.is) {
			t.Errorf("error %q, want %q, matching %v", tt.err, tt.want, tt.is)
		}
	}
	dir, err := fsys.Open("d")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Read(make([]byte, 1)); errorText(err) != "read d: it is a directory" {
		t.Errorf("Read of a directory = %v", err)
	}
}

// An open file keeps its version; a new look sees the new one.
func TestIOFSIsLive(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b, err := memfs.New(nil, &memfs.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	first, err := vfs.Write(t.Context(), b, "/d/f", "first", "")
	if err != nil {
		t.Fatal(err)
	}
	fsys := iofs.New(t.Context(), b)
	open, err := fsys.Open("d/f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), b, "/d/f", "second version", first.Revision); err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(open); err != nil || string(content) != "first" {
		t.Errorf("the open file reads %q, %v, want its own version", content, err)
	}
	info, err := fs.Stat(fsys, "d/f")
	if err != nil || info.Size() != int64(len("second version")) || !info.ModTime().Equal(now) || info.Mode() != 0o444 || info.Sys() != nil {
		t.Errorf("Stat = %v, %v, want the new version", info, err)
	}
	var walked []string
	err = fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		walked = append(walked, name)
		return err
	})
	if err != nil || !slices.Equal(walked, []string{".", "d", "d/f"}) {
		t.Errorf("WalkDir visits %q, %v", walked, err)
	}
}
