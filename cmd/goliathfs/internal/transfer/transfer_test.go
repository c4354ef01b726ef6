package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func contents(t *testing.T, b vfs.Backend) map[string]string {
	t.Helper()
	m := map[string]string{}
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		m[f.Path] = f.Content
	}
	return m
}

func many(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("/d%d/f%d", i%7, i)] = strings.Repeat("x", i)
	}
	files["/\uE000"], files["/\U0001F600"] = "after", "before" // in the order of UTF-16
	return files
}

func TestCopyAndAgain(t *testing.T) {
	src, dst := teststore.Memory(t, many(700)), teststore.Memory(t, map[string]string{"/d1/f1": "old", "/surplus": "x"})
	res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: true})
	if err != nil {
		t.Fatal(err)
	}
	if res.Created != 701 || res.Replaced != 1 || res.Deleted != 1 || res.Failed != 0 || res.Verified != 702 {
		t.Errorf("%+v", res)
	}
	if diff := cmp.Diff(contents(t, src), contents(t, dst)); diff != "" {
		t.Errorf("the copy differs (-source +copy):\n%s", diff)
	}
	res, err = transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: true})
	if err != nil || res.Unchanged != 702 || res.Created+res.Replaced+res.Deleted != 0 {
		t.Errorf("the second copy: %+v, %v", res, err)
	}
}

func TestStepsComeInOrder(t *testing.T) {
	src := teststore.Memory(t, many(500))
	var told []string
	_, err := transfer.Copy(t.Context(), src, teststore.Memory(t, nil), transfer.Options{Report: func(s transfer.Step) { told = append(told, s.Path) }})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for info := range walk.Files(t.Context(), src, "/") {
		want = append(want, info.Path)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("steps (-source +told):\n%s", diff)
	}
}

// TestInterrupted: what was copied before the end of the context is used by the
// next run.
func TestInterrupted(t *testing.T) {
	src, dst := teststore.Memory(t, many(400)), teststore.Memory(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := transfer.Copy(ctx, src, dst, transfer.Options{Report: func(transfer.Step) {
		if n++; n == 100 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{})
	if err != nil || res.Unchanged < 100 || res.Unchanged+res.Created != 402 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestDryRunAndKeep(t *testing.T) {
	src, dst := teststore.Memory(t, map[string]string{"/a": "new", "/n": "n"}), teststore.Memory(t, map[string]string{"/a": "old", "/gone": "x", "/kept/x": "x"})
	before := contents(t, dst)
	res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{DryRun: true, Delete: true, Keep: []string{"/kept"}})
	if err != nil || res.Created != 1 || res.Replaced != 1 || res.Deleted != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if diff := cmp.Diff(before, contents(t, dst)); diff != "" {
		t.Errorf("a dry run changed something:\n%s", diff)
	}
}

func TestIfNewer(t *testing.T) {
	at := func(hour int) *memfs.Options {
		return &memfs.Options{Now: func() time.Time { return time.Date(2026, 7, 8, hour, 0, 0, 0, time.UTC) }}
	}
	store := func(hour int, content string) *memfs.FS {
		s, err := memfs.New(nil, at(hour))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := vfs.Write(t.Context(), s, "/a", content, ""); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		src, dst int
		want     string
	}{{9, 8, "source"}, {8, 9, "destination"}, {8, 8, "destination"}} {
		src, dst := store(c.src, "source"), store(c.dst, "destination")
		if _, err := transfer.Copy(t.Context(), src, dst, transfer.Options{IfNewer: true}); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dst)["/a"]; got != c.want {
			t.Errorf("from %d to %d o'clock: %s", c.src, c.dst, got)
		}
	}
}

// forgetful loses what it is given at one path, and refuses another.
type forgetful struct{ *memfs.FS }

func (f forgetful) Write(ctx context.Context, path, content string, rev vfs.Revision) (vfs.Info, error) {
	switch path {
	case "/lost":
		content = "something else"
	case "/refused":
		return vfs.Info{}, errors.New("the disk is full")
	}
	return f.FS.Write(ctx, path, content, rev)
}

// TestVerify: a store that acknowledges and loses is found out, and one failure
// does not stop the rest.
func TestVerify(t *testing.T) {
	src := teststore.Memory(t, map[string]string{"/a": "a", "/lost": "b", "/refused": "c", "/z": "z"})
	var failed []transfer.Step
	report := func(s transfer.Step) {
		if s.Action == transfer.Fail {
			failed = append(failed, s)
		}
	}
	res, err := transfer.Copy(t.Context(), src, forgetful{teststore.Memory(t, nil)}, transfer.Options{Report: report})
	if err != nil {
		t.Fatal(err)
	}
	if len(failed) != 2 || failed[0].Path != "/refused" || failed[1].Path != "/lost" || res.Failed != 2 || res.Verified != 2 {
		t.Errorf("%+v, %+v", failed, res)
	}
	if failed[0].Reason != "the disk is full" {
		t.Errorf("the reason is %q", failed[0].Reason)
	}
}

// full takes so many files and has no room for more.
type full struct {
	*memfs.FS
	room atomic.Int64
}

func (f *full) Write(ctx context.Context, path, content string, rev vfs.Revision) (vfs.Info, error) {
	if f.room.Add(-1) < 0 {
		return vfs.Info{}, fmt.Errorf("no room: %w", syscall.ENOSPC)
	}
	return f.FS.Write(ctx, path, content, rev)
}

// TestFullDisk: a full disk ends a copy instead of failing each file.
func TestFullDisk(t *testing.T) {
	for _, remove := range []bool{false, true} {
		src, dst := teststore.Memory(t, many(700)), &full{FS: teststore.Memory(t, map[string]string{"/surplus": "x"})}
		dst.room.Store(100)
		told := 0
		res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: remove, Report: func(transfer.Step) { told++ }})
		if !errors.Is(err, transfer.ErrFull) || res.Failed > 0 || told > 100 || res.Deleted > 0 {
			t.Errorf("%+v, %d steps, %v", res, told, err)
		}
		if there := len(contents(t, dst)) - 1; res.Created != int64(there) || told != there {
			t.Errorf("%+v, %d steps, of %d files that were copied", res, told, there)
		}
		dst.room.Store(1000)
		res, err = transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: remove})
		if err != nil || res.Unchanged < 1 || res.Unchanged+res.Created != 702 {
			t.Errorf("the second copy: %+v, %v", res, err)
		}
	}
}

// TestEmptySource: a source without files is no reason to remove everything.
func TestEmptySource(t *testing.T) {
	for _, dry := range []bool{false, true} {
		dst := teststore.Memory(t, map[string]string{"/a": "a"})
		_, err := transfer.Copy(t.Context(), teststore.Memory(t, nil), dst, transfer.Options{Delete: true, DryRun: dry})
		if !errors.Is(err, transfer.ErrEmptySource) || len(contents(t, dst)) != 1 {
			t.Errorf("removed although the source is empty: %v", err)
		}
		res, err := transfer.Copy(t.Context(), teststore.Memory(t, nil), dst, transfer.Options{Delete: true, DryRun: dry, AllowEmpty: true})
		if err != nil || res.Deleted != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	}
	for _, c := range []struct {
		dst  map[string]string
		keep []string
	}{{nil, nil}, {map[string]string{"/kept/x": "x"}, []string{"/kept"}}} {
		if _, err := transfer.Copy(t.Context(), teststore.Memory(t, nil), teststore.Memory(t, c.dst), transfer.Options{Delete: true, Keep: c.keep}); err != nil {
			t.Errorf("nothing to remove in %v: %v", c.dst, err)
		}
	}
}

// TestKindChanges: on the host a name is a file or a folder, and --delete makes
// room for the other kind in the same run.
func TestKindChanges(t *testing.T) {
	src := teststore.Memory(t, map[string]string{"/p": "file", "/q/in": "below", "/same": "s"})
	dst, err := hostdir.Open(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	for path, content := range map[string]string{"/p/in": "below", "/q": "file", "/same": "s"} {
		if _, err := vfs.Write(t.Context(), dst, path, content, ""); err != nil {
			t.Fatal(err)
		}
	}
	res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: true})
	if err != nil || res.Created != 2 || res.Deleted != 2 || res.Failed != 0 || res.Verified != 2 || res.Unchanged != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, path := range []string{"/p", "/q/in"} {
		if _, err := vfs.Read(t.Context(), dst, path); err != nil {
			t.Error(err)
		}
	}
}

func TestDiff(t *testing.T) {
	a := teststore.Memory(t, map[string]string{"/same": "s", "/changed": "one\ntwo\n", "/a-only": "x\n", "/skipped": "", "/\U0001F600": "x"})
	b := teststore.Memory(t, map[string]string{"/same": "s", "/changed": "one\n2\n", "/b-only": "y\n", "/\uE000": "x"})
	got := map[string]transfer.Kind{}
	err := transfer.Diff(t.Context(), a, b, func(path string) bool { return path == "/skipped" }, func(c transfer.Change) error {
		got[c.Path] = c.Kind
		if c.Path == "/changed" {
			if added, removed := c.Lines(); added != 1 || removed != 1 {
				t.Errorf("%d lines added, %d removed", added, removed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]transfer.Kind{
		"/same": transfer.Same, "/changed": transfer.Changed, "/a-only": transfer.OnlyA, "/b-only": transfer.OnlyB,
		"/\U0001F600": transfer.OnlyA, "/\uE000": transfer.OnlyB,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// What is skipped is looked at on neither side, and what is spared is not removed.
func TestSkipAndSpare(t *testing.T) {
	src := teststore.Memory(t, map[string]string{"/a": "new", "/skip/a": "new", "/skip/n": "n"})
	dst := teststore.Memory(t, map[string]string{"/a": "old", "/skip/a": "old", "/skip/gone": "x", "/spare": "x", "/gone": "x"})
	skip := func(path string) bool { return strings.HasPrefix(path, "/skip/") }
	var progress transfer.Progress
	if err := transfer.Count(t.Context(), src, skip, &progress); err != nil || progress.Total.Load() != 1 {
		t.Errorf("%d files are counted, %v", progress.Total.Load(), err)
	}
	res, err := transfer.Copy(t.Context(), src, dst, transfer.Options{Delete: true, Skip: skip, Spare: func(path string) bool { return path == "/spare" }})
	if err != nil || res.Replaced != 1 || res.Created != 0 || res.Deleted != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	want := map[string]string{"/a": "new", "/skip/a": "old", "/skip/gone": "x", "/spare": "x"}
	if diff := cmp.Diff(want, contents(t, dst)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
