package postgresfs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// snapshot returns the files of a snapshot and the paths that it leaves out.
func snapshot(t *testing.T, s *postgresfs.FS) (files []vfs.File, out []string) {
	t.Helper()
	for f, err := range s.Snapshot(t.Context()) {
		var entry leftout.Entry
		switch {
		case errors.As(err, &entry):
			out = append(out, entry.Path)
		case err != nil:
			t.Fatal(err)
		default:
			files = append(files, f)
		}
	}
	return files, out
}

// A snapshot restored elsewhere is the same files at the same revisions, and watchers
// are told of each.
func TestSnapshotAndRestore(t *testing.T) {
	t.Parallel()
	url := suite(t)
	from, to := open(t, url, &postgresfs.Options{Namespace: namespace()}), open(t, url, &postgresfs.Options{Namespace: namespace()})
	for i := range 150 { // more than two pages
		write(t, from, fmt.Sprintf("/f/%d \U0001F600\ue000", i), fmt.Sprint("text\x00", i), "")
	}
	files, out := snapshot(t, from)
	if len(files) != 150 || out != nil {
		t.Fatalf("the snapshot has %d files and leaves out %q", len(files), out)
	}
	files = append(files, vfs.File{Info: vfs.Info{Path: "/old", Revision: "a stranger's \x00\xff"}, Content: "no time"})
	events := watch(t, to, "/")
	if err := to.Restore(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	files[150].Size = 7
	back, _ := snapshot(t, to)
	if diff := cmp.Diff(files, back); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	for _, f := range files {
		if e := <-events; e.Path != f.Path || e.Info != f.Info {
			t.Fatalf("told %+v, want %+v", e, f.Info)
		}
	}
	err := to.Restore(t.Context(), []vfs.File{files[3], {Info: vfs.Info{Path: "/x"}}, {Info: vfs.Info{Path: "/new", Revision: "r"}}})
	if !errors.Is(err, vfs.ErrConflict) {
		t.Errorf("restoring over a file: %v", err)
	}
	if _, err := vfs.Read(t.Context(), to, "/new"); err != nil {
		t.Errorf("the rest was not restored: %v", err)
	}
	if err := vfs.Remove(t.Context(), to, "/old", "a stranger's \x00\xff"); err != nil {
		t.Errorf("removing at a stranger's revision: %v", err)
	}
}

// watch returns the events of a watch, after the first overflow.
func watch(t *testing.T, b vfs.Backend, dir string) <-chan vfs.Event {
	t.Helper()
	events := make(chan vfs.Event, 10_000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, b, dir, func(e vfs.Event) { events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
	select {
	case <-events:
	case <-time.After(30 * time.Second):
		t.Fatal("the watch does not begin")
	}
	return events
}

// A snapshot is of one moment.
func TestSnapshotIsOneMoment(t *testing.T) {
	t.Parallel()
	s := open(t, suite(t), &postgresfs.Options{Namespace: namespace()})
	for i := range 100 {
		write(t, s, fmt.Sprintf("/%02d", i), "before", "")
	}
	n := 0
	for f, err := range s.Snapshot(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 1 {
			last, err := vfs.Read(t.Context(), s, "/99")
			if err != nil {
				t.Fatal(err)
			}
			write(t, s, "/99", "after", last.Revision)
			write(t, s, "/zz", "after", "")
		}
		if f.Content != "before" {
			t.Errorf("%s holds %q", f.Path, f.Content)
		}
	}
	if n != 100 {
		t.Errorf("%d files", n)
	}
}

// Check names each row that another program made wrong, in every namespace; lists and
// reads stay right around it.
func TestCheck(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url, nil)
	other, err := s.Namespace("other")
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "/good", "x", "")
	write(t, other, "/good", "x", "")
	admin := connect(t, url)
	insert := `insert into goliath_files_v1 (ns, key, content, revision, mtime) values ($1, $2, $3, $4, 1)`
	run(t, admin, insert, "default", []byte("/a//b"), []byte("x"), []byte("r"))
	run(t, admin, insert, "default", []byte("/b"), []byte("x"), []byte(""))
	run(t, admin, insert, "other", []byte("/c"), []byte("\xff"), []byte("r"))
	run(t, admin, insert, "other", []byte("/d"), make([]byte, 1<<20+1), []byte("r"))
	run(t, admin, `update goliath_namespaces_v1 set seq = 7 where ns = 'other'`)
	var got []string
	if err := s.Check(t.Context(), func(p postgresfs.Problem) {
		got = append(got, fmt.Sprintf("%s %s %s", p.Namespace, p.Path, p.Rule))
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"other  log", "default /a//b path", "default /b revision", "other /c text", "other /d size"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	run(t, admin, insert, " ", []byte("/e"), []byte("x"), []byte("r"))
	run(t, admin, insert, " ", []byte("/f"), []byte("x"), []byte("r"))
	if rows, err := s.Nameless(t.Context()); err != nil || rows != 2 {
		t.Errorf("%d rows are of no namespace, %v; want 2", rows, err)
	}
	page, err := vfs.List(t.Context(), s, "/", vfs.ListOptions{Limit: 1})
	if err != nil || len(page.Files) != 1 || page.Files[0].Path != "/good" || page.Next != "" {
		t.Errorf("listed %+v, %v", page, err)
	}
	for path, want := range map[string]error{"/c": vfs.ErrNotText, "/d": vfs.ErrTooLarge} {
		if _, err := vfs.Read(t.Context(), other, path); !errors.Is(err, want) {
			t.Errorf("read of %s: %v", path, err)
		}
	}
	if _, out := snapshot(t, other); len(out) != 2 {
		t.Errorf("the snapshot leaves out %q", out)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := s.DiskUse(t.Context()); err != nil || n < 8192 {
		t.Errorf("disk use %d, %v", n, err)
	}
	names, err := s.Namespaces(t.Context())
	if diff := cmp.Diff([]string{"default", "other"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
