package memfs_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func open(t testing.TB, seed map[string]string, opts *memfs.Options) *memfs.FS {
	t.Helper()
	b, err := memfs.New(seed, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBackend(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New:     func(t *testing.T, seed map[string]string) vfs.Backend { return open(t, seed, nil) },
		Peer:    func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
	})
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		seed map[string]string
		want error
		says string
	}{
		{"relative", map[string]string{"a": ""}, vfs.ErrInvalidPath, "seed a: invalid path: a path must start with /"},
		{"two spellings", map[string]string{"/a/b": "1", "/a//b/": "2"}, vfs.ErrInvalidPath, "/a/b is given twice"},
		{"not text", map[string]string{"/a": "\xff"}, vfs.ErrNotText, "seed /a: the content is not valid UTF-8"},
		{"too large", map[string]string{"/a": strings.Repeat("x", 1<<20+1)}, vfs.ErrTooLarge, "seed /a: the content is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := memfs.New(tt.seed, nil)
			if b != nil || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("New = %v, %v, want an error that matches %v and says %q", b, err, tt.want, tt.says)
			}
		})
	}
}

// Seeds have no time and a revision that any process would give them.
func TestSeeds(t *testing.T) {
	b := open(t, map[string]string{"/d//a": "x"}, nil)
	info, err := vfs.Stat(t.Context(), b, "/d/a")
	want := vfs.Info{Path: "/d/a", Revision: revision.OfSeed("/d/a", "x"), Size: 1}
	if diff := cmp.Diff(want, info); err != nil || diff != "" {
		t.Errorf("Stat: %v (-want +got):\n%s", err, diff)
	}
}

func TestOptions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	var olds []vfs.Revision
	b := open(t, nil, &memfs.Options{
		Now: func() time.Time { return now },
		NewRevision: func(at time.Time, old vfs.Revision) vfs.Revision {
			if !at.Equal(now) {
				t.Errorf("NewRevision is told the time %v, want %v", at, now)
			}
			olds = append(olds, old)
			return vfs.Revision(fmt.Sprintf("rev-%08d", len(olds)))
		},
	})
	first, err := vfs.Write(t.Context(), b, "/a", "1", "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := vfs.Write(t.Context(), b, "/a", "22", first.Revision)
	if err != nil {
		t.Fatal(err)
	}
	want := vfs.Info{Path: "/a", Revision: "rev-00000002", Size: 2, ModTime: now.Truncate(time.Millisecond)}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("the second write (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]vfs.Revision{"", "rev-00000001"}, olds); diff != "" {
		t.Errorf("the revisions replaced (-want +got):\n%s", diff)
	}
	if got := revision.Time(revision.New(now, "")); !got.Equal(want.ModTime) {
		t.Errorf("a revision tells the time %v, the file %v", got, want.ModTime)
	}
}

// BenchmarkPage shows that a page costs the same at the end of a million files
// as at the start of a thousand.
func BenchmarkPage(b *testing.B) {
	pages := []struct {
		name  string
		files int
		after string
		store *memfs.FS
	}{
		{name: "start of 1000", files: 1_000},
		{name: "end of 1000000", files: 1_000_000, after: "/d/0999900"},
	}
	for i, p := range pages { // both, so that the collector has as much to look at in each run
		seed := make(map[string]string, p.files)
		for n := range p.files {
			seed[fmt.Sprintf("/d/%07d", n)] = ""
		}
		pages[i].store = open(b, seed, nil)
	}
	for _, p := range pages {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			opts := vfs.ListOptions{After: p.after, Limit: 64}
			for b.Loop() {
				page, err := p.store.List(context.Background(), "/d", opts)
				if err != nil || len(page.Files) != 64 {
					b.Fatal(len(page.Files), err)
				}
			}
		})
	}
	runtime.KeepAlive(pages)
}

func Example() {
	ctx := context.Background()
	files, err := memfs.New(map[string]string{"/docs/guide.md": "# Guide\n"}, nil)
	if err != nil {
		panic(err)
	}
	guide, err := vfs.Read(ctx, files, "/docs/guide.md")
	if err != nil {
		panic(err)
	}
	if _, err = vfs.Write(ctx, files, guide.Path, guide.Content+"More.\n", guide.Revision); err != nil {
		panic(err)
	}
	_, err = vfs.Write(ctx, files, guide.Path, "too late", guide.Revision)
	fmt.Println(vfs.Code(err))
	for info, err := range walk.Files(ctx, files, "/") {
		fmt.Println(info.Path, info.Size, err)
	}
	// Output:
	// conflict
	// /docs/guide.md 14 <nil>
}
