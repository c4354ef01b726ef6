package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

func TestWriteAll(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	rev := write(t, s, "/old", "one")
	results := s.WriteAll(t.Context(), []badgerfs.Write{
		{Path: "/new", Content: "new"},
		{Path: "/old", Content: "two", Expected: rev},
		{Path: "/old", Content: "three", Expected: rev}, // stale since the line before
		{Path: "/new", Content: "again"},
		{Path: "new", Content: "x"},
		{Path: "/bytes", Content: "\xff"},
		{Path: "/big", Content: strings.Repeat("x", 1<<20+1)},
		{Path: "/last", Content: ""},
	})
	want := []error{nil, nil, vfs.ErrConflict, vfs.ErrConflict, vfs.ErrInvalidPath, vfs.ErrNotText, vfs.ErrTooLarge, nil}
	for i, r := range results {
		if !errors.Is(r.Err, want[i]) {
			t.Errorf("write %d: %v, want %v", i, r.Err, want[i])
		}
		if (r.Info.Revision == "") != (want[i] != nil) {
			t.Errorf("write %d: info %+v with error %v", i, r.Info, r.Err)
		}
	}
	if f, err := s.Read(t.Context(), "/old"); err != nil || f.Content != "two" || f.Info != results[1].Info {
		t.Errorf("/old = %+v, %v, want %+v", f, err, results[1].Info)
	}
	if got := paths(t, s, "/"); !cmp.Equal(got, []string{"/last", "/new", "/old"}) {
		t.Errorf("files = %q", got)
	}
}

// More than one transaction holds.
func TestWriteAllLarge(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), &badgerfs.Options{Relaxed: true})
	writes := make([]badgerfs.Write, 3000)
	for i := range writes {
		writes[i] = badgerfs.Write{Path: fmt.Sprintf("/%d", i), Content: body("/x", i)}
	}
	for _, r := range s.WriteAll(t.Context(), writes) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if read := sound(t, s); read.Files != len(writes) {
		t.Errorf("%d files, want %d", read.Files, len(writes))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range s.WriteAll(ctx, []badgerfs.Write{{Path: "/late"}}) {
		if !errors.Is(r.Err, context.Canceled) {
			t.Errorf("under an ended context: %v", r.Err)
		}
	}
}

func TestSnapshotRestore(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), nil)
	for path, content := range sample() {
		write(t, s, path, content)
	}
	var files []vfs.File
	for f, err := range s.Snapshot(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 { // what happens from now on is not in it
			write(t, s, "/z", "late")
			info, err := s.Stat(t.Context(), "/small/9")
			if err == nil {
				_, err = s.Write(t.Context(), "/small/9", "changed", info.Revision)
			}
			if err == nil {
				err = s.Compact(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, f)
	}
	if len(files) != len(sample()) {
		t.Fatalf("the snapshot has %d files, want %d", len(files), len(sample()))
	}

	copied := open(t, t.TempDir(), nil)
	if err := copied.Restore(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Content != sample()[f.Path] {
			t.Errorf("%s: the snapshot has other content", f.Path)
		}
		got, err := copied.Read(t.Context(), f.Path)
		if diff := cmp.Diff(f, got); err != nil || diff != "" {
			t.Errorf("restored (-want +got):\n%.300s%v", diff, err)
		}
	}

	err := copied.Restore(t.Context(), []vfs.File{files[0], {Info: vfs.Info{Path: "/new"}}, {Info: vfs.Info{Path: "/newer", Revision: "r"}}})
	if !errors.Is(err, vfs.ErrConflict) || !strings.Contains(err.Error(), files[0].Path) || !strings.Contains(err.Error(), "/new") {
		t.Errorf("Restore over a file and without a revision: %v", err)
	}
	if f, err := copied.Read(t.Context(), "/newer"); err != nil || !f.ModTime.Equal(time.Time{}) || f.Revision != "r" {
		t.Errorf("the file that could be restored = %+v, %v", f, err)
	}
}
