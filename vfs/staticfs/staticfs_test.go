package staticfs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

func TestBackend(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn:  true,
		ReadOnly: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			s, err := staticfs.New(seed)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	})
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  error
		says  string
	}{
		{"relative", map[string]string{"a": ""}, vfs.ErrInvalidPath, "load a: invalid path: a path must start with /"},
		{"the root", map[string]string{"/": ""}, vfs.ErrInvalidPath, "name a file below it"},
		{"two spellings", map[string]string{"/a//b": "1", "/a/b/": "2"}, vfs.ErrInvalidPath, "load /a/b: invalid path: the file is given twice, drop one"},
		{"not text", map[string]string{"/a": "\xff"}, vfs.ErrNotText, "encode it first"},
		{"too large", map[string]string{"/a": strings.Repeat("x", 1<<20+1)}, vfs.ErrTooLarge, "1048577 bytes where at most 1048576 fit"},
		{"the first of many", map[string]string{"/b\\": "", "/a\\": "", "/c\\": ""}, vfs.ErrInvalidPath, `load /a\:`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := staticfs.New(tt.files)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || s != nil {
				t.Errorf("New = %v, %v, want an error that matches %v and says %q", s, err, tt.want, tt.says)
			}
		})
	}
}

func TestRevisionIsOfPathAndContent(t *testing.T) {
	s, err := staticfs.New(map[string]string{"/d//a": "x", "/b": "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/d/a", "/b"} {
		info, err := vfs.Stat(t.Context(), s, path)
		if want := revision.OfSeed(path, "x"); err != nil || info.Revision != want || !info.ModTime.IsZero() {
			t.Errorf("Stat of %s = %+v, %v, want revision %q and no time", path, info, err, want)
		}
	}
}

func TestContents(t *testing.T) {
	files := map[string]string{"/a": "1", "/a/b": "2"}
	s, err := staticfs.New(files)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Contents()
	if diff := cmp.Diff(files, got); diff != "" || s.Len() != 2 {
		t.Errorf("Contents of %d files (-want +got):\n%s", s.Len(), diff)
	}
	got["/a"] = "changed"
	if f, err := vfs.Read(t.Context(), s, "/a"); err != nil || f.Content != "1" {
		t.Errorf("after a change of the copy, /a is %q, %v", f.Content, err)
	}
}

func TestWatchIsSilent(t *testing.T) {
	s, err := staticfs.New(map[string]string{"/a": ""})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var events []vfs.Event
	err = vfs.Watch(ctx, s, "/", func(e vfs.Event) {
		events = append(events, e)
		cancel()
	})
	if diff := cmp.Diff([]vfs.Event{{Path: "/", Overflow: true}}, events); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Watch = %v, events (-want +got):\n%s", err, diff)
	}
}
