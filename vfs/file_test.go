package vfs_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// least shows nothing of a store but vfs.Backend.
type least struct{ vfs.Backend }

func TestFunctionsCanonicalize(t *testing.T) {
	b := teststore.Paths(t, "/a/b")
	ctx := t.Context()
	const path = "//a//b/"
	f, err := vfs.Read(ctx, b, path)
	if err != nil || f.Path != "/a/b" {
		t.Errorf("Read = %q, %v", f.Path, err)
	}
	if info, err := vfs.Stat(ctx, b, path); err != nil || info.Path != "/a/b" {
		t.Errorf("Stat = %q, %v", info.Path, err)
	}
	if page, err := vfs.List(ctx, b, "//a/", vfs.ListOptions{}); err != nil || len(page.Files) != 1 {
		t.Errorf("List = %v, %v", page, err)
	}
	info, err := vfs.Write(ctx, b, path, "new", f.Revision)
	if err != nil || info.Path != "/a/b" {
		t.Errorf("Write = %q, %v", info.Path, err)
	}
	if err := vfs.Remove(ctx, b, path, info.Revision); err != nil {
		t.Errorf("Remove = %v", err)
	}
}

func TestErrorsTellOperationAndPath(t *testing.T) {
	b := teststore.Paths(t, "/a")
	ctx := t.Context()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	fixed := least{b}
	for _, tt := range []struct {
		call func() error
		want string
		is   error
	}{
		{func() error { _, err := vfs.Read(ctx, b, "/x/"); return err }, "read /x: no such file", vfs.ErrNotFound},
		{func() error { _, err := vfs.Read(ctx, b, "/x/"); return err }, "read /x: no such file", fs.ErrNotExist},
		{func() error { _, err := vfs.Read(ctx, b, "x"); return err }, "read x: invalid path: a path must start with /", vfs.ErrInvalidPath},
		{func() error { _, err := vfs.Stat(ctx, b, "/x"); return err }, "stat /x: no such file", vfs.ErrNotFound},
		{func() error { _, err := vfs.Stat(ctx, fixed, "/x"); return err }, "stat /x: no such file", vfs.ErrNotFound},
		{func() error { _, err := vfs.Stat(ctx, fixed, "/"); return err }, "stat /: invalid path: / is a directory, name a file below it", vfs.ErrInvalidPath},
		{func() error { _, err := vfs.Write(ctx, b, "/a", "", ""); return err }, "write /a: the file is not at the expected revision", vfs.ErrConflict},
		{func() error { _, err := vfs.Write(ctx, fixed, "/a", "", ""); return err }, "write /a: this path cannot be changed", vfs.ErrReadOnly},
		{func() error { _, err := vfs.Write(ctx, fixed, "/a", "", ""); return err }, "write /a: this path cannot be changed", fs.ErrPermission},
		{func() error { return vfs.Remove(ctx, fixed, "/a", "") }, "remove /a: this path cannot be changed", vfs.ErrReadOnly},
		{func() error { return vfs.Remove(ctx, b, "/a", "x") }, "remove /a: the file is not at the expected revision", vfs.ErrConflict},
		{func() error { return vfs.Remove(ctx, b, "/", "x") }, "remove /: invalid path: / is a directory, name a file below it", vfs.ErrInvalidPath},
		{func() error { _, err := vfs.List(ctx, b, "/a", vfs.ListOptions{Limit: 257}); return err }, "list /a: invalid argument: list limit 257 is outside 1 to 256", fs.ErrInvalid},
		{func() error { _, err := vfs.List(ctx, b, "/..", vfs.ListOptions{}); return err }, `list /..: invalid path: the segment ".." is not allowed, so name the path in full`, vfs.ErrInvalidPath},
		{func() error { return vfs.Watch(ctx, fixed, "/", nil) }, "watch /: this store does not report changes: unsupported operation", errors.ErrUnsupported},
		{func() error { return vfs.Watch(ctx, b, "d", nil) }, "watch d: invalid path: a path must start with /", vfs.ErrInvalidPath},
		{func() error { _, err := vfs.Read(ended, b, "/a"); return err }, "read /a: not begun: context canceled", context.Canceled},
		{func() error { return vfs.Remove(ended, b, "/a", "") }, "remove /a: not begun: context canceled", context.Canceled},
		{func() error { _, err := wrap.Sub(b, "d"); return err }, "sub d: invalid path: a path must start with /", vfs.ErrInvalidPath},
	} {
		err := tt.call()
		if err == nil || err.Error() != tt.want || !errors.Is(err, tt.is) {
			t.Errorf("error %q, want %q, matching %v", err, tt.want, tt.is)
		}
		if _, ok := err.(*fs.PathError); !ok {
			t.Errorf("%v is a %T, want a *fs.PathError", err, err)
		}
	}
}

// wrapping is a stranger's store that wraps its errors itself.
type wrapping struct{ vfs.Backend }

func (wrapping) Read(_ context.Context, path string) (vfs.File, error) {
	return vfs.File{}, &fs.PathError{Op: "fetch", Path: "s3:" + path, Err: vfs.ErrNotFound}
}

func TestErrorsAreWrappedOnce(t *testing.T) {
	_, err := vfs.Read(t.Context(), wrapping{}, "/x")
	if err == nil || err.Error() != "read /x: no such file" {
		t.Errorf("Read = %v", err)
	}
}

func TestStatFallsBackToList(t *testing.T) {
	b := least{teststore.Paths(t, "/a", "/a/b", "/d/e", "/a-")}
	for _, path := range []string{"/a", "/a/b", "/a-"} {
		want, err := b.Backend.(vfs.Statter).Stat(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vfs.Stat(t.Context(), b, path)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Stat of %s: %v (-want +got):\n%s", path, err, diff)
		}
	}
	if _, err := vfs.Stat(t.Context(), b, "/d"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("Stat of a directory = %v, want %v", err, vfs.ErrNotFound)
	}
}

func TestCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{vfs.ErrNotFound, "not-found"},
		{vfs.ErrConflict, "conflict"},
		{vfs.ErrReadOnly, "read-only"},
		{vfs.ErrInvalidPath, "invalid-path"},
		{vfs.ErrTooLarge, "too-large"},
		{vfs.ErrNotText, "not-text"},
		{&fs.PathError{Op: "read", Path: "/a", Err: vfs.ErrNotFound}, "not-found"},
		{textfile.Check(strings.Repeat("x", 1<<20+1)), "too-large"},
		{textfile.Check("\xff"), "not-text"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "canceled"},
		{fs.ErrInvalid, "invalid-argument"},
		{fs.ErrNotExist, "store"}, // a host file that the store lost, not a virtual one
		{errors.New("input/output error"), "store"},
		{errors.ErrUnsupported, "store"},
		{vfs.ErrUnavailable, "store"},
	} {
		if got := vfs.Code(tt.err); got != tt.want {
			t.Errorf("Code(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestListOptionsChecked(t *testing.T) {
	for _, tt := range []struct {
		opts  vfs.ListOptions
		limit int // 0 when refused
	}{
		{vfs.ListOptions{}, 64},
		{vfs.ListOptions{Limit: 1}, 1},
		{vfs.ListOptions{Limit: 256, After: "no path"}, 256},
		{vfs.ListOptions{Limit: 257}, 0},
		{vfs.ListOptions{Limit: -1}, 0},
		{vfs.ListOptions{After: "\xff"}, 0},
	} {
		got, err := tt.opts.Checked()
		if tt.limit == 0 {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%+v: error %v, want %v", tt.opts, err, fs.ErrInvalid)
			}
			continue
		}
		if err != nil || got.Limit != tt.limit || got.After != tt.opts.After {
			t.Errorf("%+v: %+v, %v, want limit %d", tt.opts, got, err, tt.limit)
		}
	}
}
