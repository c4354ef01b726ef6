package badgerfs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// TestSharedRevision: a revision is used once in a namespace, and in each of
// several.
func TestSharedRevision(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	other, err := s.Namespace("other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	file := func(path, rev string) vfs.File {
		return vfs.File{Info: vfs.Info{Path: path, Revision: vfs.Revision(rev)}, Content: path}
	}
	for _, err := range []error{
		s.Restore(t.Context(), []vfs.File{file("/a", "one"), file("/b", "two"), file("/c", "one"), file("/d", "one")}),
		other.Restore(t.Context(), []vfs.File{file("/a", "one"), file("/e", "three")}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	sum, err := s.Check(t.Context(), func(p badgerfs.Problem) {
		if !errors.Is(p.Err, badgerfs.ErrSharedRevision) || !strings.Contains(p.Err.Error(), " of /a, ") {
			t.Errorf("%s: %v", p.Path, p.Err)
		}
		got = append(got, p.Namespace+p.Path)
	})
	if err != nil || sum.Files != 6 {
		t.Errorf("Check: %+v, %v", sum, err)
	}
	if diff := cmp.Diff([]string{"default/c", "default/d"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
