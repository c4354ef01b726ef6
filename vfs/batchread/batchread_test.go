package batchread_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func memory(t *testing.T, n int) (*memfs.FS, []string) {
	t.Helper()
	files, paths := map[string]string{}, []string{}
	for i := range n {
		path := fmt.Sprintf("/%04d", i)
		files[path] = "content of " + path
		paths = append(paths, path)
	}
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, paths
}

// counted is a store that notes the sizes of the batches it is asked for, and fails
// when it is out of reach.
type counted struct {
	*memfs.FS
	sizes []int
	away  bool
}

func (c *counted) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	c.sizes = append(c.sizes, len(paths))
	if c.away {
		return nil, vfs.ErrUnavailable
	}
	return c.FS.ReadBatch(ctx, paths)
}

// Batches grow, so that who stops early has not paid for many.
func TestSizes(t *testing.T) {
	mem, paths := memory(t, 700)
	b := &counted{FS: mem}
	seq := batchread.Files(t.Context(), b, paths)
	for range 2 { // a sequence can be followed again
		b.sizes = nil
		got := []string{}
		for f, err := range seq {
			if err != nil || f.Content != "content of "+f.Path {
				t.Fatalf("%+v, %v", f, err)
			}
			got = append(got, f.Path)
		}
		if diff := cmp.Diff(paths, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{8, 16, 32, 64, 128, 256, 196}, b.sizes); diff != "" {
			t.Error(diff)
		}
	}
	b.sizes = nil
	for range seq {
		break
	}
	if diff := cmp.Diff([]int{8}, b.sizes); diff != "" {
		t.Error(diff)
	}
}

// Paths are made canonical, and what concerns one of them is told of that one.
func TestPaths(t *testing.T) {
	mem, _ := memory(t, 3)
	asked := []string{"0001/", "/0000", "/a/../..", "/missing", "/x/../0002", "", "/0001"}
	want := []string{"/0001 ", "/0000 ", "/a/../.. invalid-path", "/missing not-found", "/0002 ", " invalid-path", "/0001 "}
	for name, b := range map[string]vfs.Backend{"batches": mem, "one by one": struct{ vfs.Backend }{mem}} {
		var got []string
		for f, err := range batchread.Files(t.Context(), b, asked) {
			got = append(got, f.Path+" "+vfs.Code(err))
			if _, ok := errors.AsType[*fs.PathError](err); err != nil && !ok {
				t.Errorf("%s: %v is no PathError", name, err)
			}
		}
		if name == "batches" {
			for i, path := range asked { // the judge is vfs.Read
				f, err := vfs.Read(t.Context(), b, path)
				if err != nil {
					f.Path = path
				}
				want[i] = f.Path + " " + vfs.Code(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A store that fails as a whole, and a context that ends in the middle, end it.
func TestEnds(t *testing.T) {
	mem, paths := memory(t, 20)
	away := &counted{FS: mem, away: true}
	var errs []error
	for _, err := range batchread.Files(t.Context(), away, paths) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], vfs.ErrUnavailable) {
		t.Errorf("away: %v", errs)
	}
	for name, b := range map[string]vfs.Backend{"batches": mem, "one by one": struct{ vfs.Backend }{mem}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		errs = nil
		for _, err := range batchread.Files(ctx, b, paths) {
			errs = append(errs, err)
			cancel()
		}
		if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i != len(errs)-1 || !errors.Is(errs[i], context.Canceled) {
			t.Errorf("%s: %v", name, errs)
		}
	}
}
