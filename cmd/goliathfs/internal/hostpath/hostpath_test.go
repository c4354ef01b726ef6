package hostpath_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
)

func TestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{
		os.MkdirAll("a/sub", 0o777),
		os.Mkdir("ab", 0o777),
		os.Symlink("a", "link"),
		os.WriteFile("a/f", nil, 0o666),
		os.Link("a/f", "hard"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	full, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, other  string
		same, within bool
	}{
		{"a", "./a/", true, true},
		{"a", full, true, true},
		{"a", "link", true, true},
		{"link/sub", "a", false, true},
		{"a/sub/../f", "hard", true, true},
		{"link/new/deep", "a/new/deep", true, true},
		{"link/new/deep", "a/new", false, true},
		{"ab", "a", false, false},
		{"a", "a/sub", false, false},
		{"nope", "other", false, false},
	} {
		if got := hostpath.Same(c.name, c.other); got != c.same {
			t.Errorf("Same(%q, %q) = %v", c.name, c.other, got)
		}
		if got := hostpath.Within(c.name, c.other); got != c.within {
			t.Errorf("Within(%q, %q) = %v", c.name, c.other, got)
		}
	}
}
