package lastfailed_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/lastfailed"
)

func TestNote(t *testing.T) {
	cache := t.TempDir()
	t.Chdir(t.TempDir())
	file, err := lastfailed.In(cache)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		note map[string]bool
		want []string
	}{
		{nil, nil},
		{map[string]bool{"/b": true, "/a": true, "/c": false}, []string{"/a", "/b"}},
		{map[string]bool{"/a": false}, []string{"/b"}},
		{map[string]bool{"/c": true}, []string{"/b", "/c"}},
		{map[string]bool{"/b": false, "/c": false}, nil},
	} {
		if err := file.Note(step.note); err != nil {
			t.Fatal(err)
		}
		got, err := file.Read()
		if diff := cmp.Diff(step.want, got); diff != "" || err != nil {
			t.Errorf("step %d, %v (-want +got):\n%s", i, err, diff)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(string(file)), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the cache holds %v, %v", left, err)
	}
}

// Without a place nothing is kept, and nothing is written where one stands.
func TestNoPlace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := lastfailed.File("").Note(map[string]bool{"/a": true}); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A directory has a list of its own.
func TestAnotherDirectory(t *testing.T) {
	cache := t.TempDir()
	seen := map[lastfailed.File]bool{}
	for range 2 {
		t.Chdir(t.TempDir())
		file, err := lastfailed.In(cache)
		if err != nil || seen[file] {
			t.Errorf("%s, %v", file, err)
		}
		seen[file] = true
	}
}

func TestDamagedList(t *testing.T) {
	file := lastfailed.File(filepath.Join(t.TempDir(), "list.json"))
	if err := os.WriteFile(string(file), []byte("no list"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(); err == nil {
		t.Error("what is no list was read as one")
	}
	if err := file.Note(map[string]bool{"/a": true}); err != nil {
		t.Fatal(err)
	}
	if got, err := file.Read(); !cmp.Equal(got, []string{"/a"}) || err != nil {
		t.Errorf("after a note it holds %v, %v", got, err)
	}
}
