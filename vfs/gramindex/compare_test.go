package gramindex_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// infos yields what a list of s yields.
func (s *store) infos() iter.Seq2[vfs.Info, error] {
	return func(yield func(vfs.Info, error) bool) {
		for _, path := range slices.SortedFunc(maps.Keys(s.files), vpath.Compare) {
			if !yield(vfs.Info{Path: path, Revision: s.files[path].Revision}, nil) {
				return
			}
		}
	}
}

// What changed without being noted is what a comparison finds, and marking it mends
// the index.
func TestCompare(t *testing.T) {
	s := newStore(smallSizes, nil)
	defer s.x.Close()
	for i := range 40 {
		s.write(fmt.Sprintf("/%02d", i), "text")
	}
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // some are in newer segments
		s.write(fmt.Sprintf("/%02d", 2*i), "other text")
	}
	s.x.Ready(t.Context())
	s.x.Wait()
	s.remove("/00")
	s.write("/01", "noted")
	changed := s.files["/07"]
	changed.Content, changed.Revision = "secret", "x"
	s.files["/07"] = changed
	changed.Path = "/zz"
	s.files["/zz"] = changed
	delete(s.files, "/10")
	var got []string
	compare := func() {
		t.Helper()
		got = nil
		if done, err := s.x.Compare(t.Context(), s.infos(), func(path string) { got = append(got, path) }); err != nil || !done {
			t.Fatal(done, err)
		}
	}
	compare()
	if want := []string{"/07", "/10", "/zz"}; !slices.Equal(got, want) {
		t.Fatalf("apart at %q, want %q", got, want)
	}
	for _, path := range got {
		s.x.Mark(path)
	}
	if compare(); len(got) > 0 {
		t.Errorf("still apart at %q", got)
	}
	found, ok, err := s.search(t.Context(), "/", "", "secret", 10)
	if !ok || err != nil || len(missing([]string{"/07", "/zz"}, found)) > 0 {
		t.Errorf("found %q, %v, %v", found, ok, err)
	}
	if err := s.x.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
