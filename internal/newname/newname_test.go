package newname_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/internal/newname"
)

// A file gets its name, and what has that name stays: by a link, and without one.
func TestGive(t *testing.T) {
	for how, give := range map[string]func(fresh, name string) error{"link": newname.Give, "rename": newname.Rename} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			fresh, name := filepath.Join(dir, "fresh"), filepath.Join(dir, "name")
			write := func(file, text string) {
				t.Helper()
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			holds := func(file, text string) {
				t.Helper()
				if got, err := os.ReadFile(file); err != nil || string(got) != text {
					t.Errorf("%s holds %q, %v; want %q", file, got, err, text)
				}
			}
			write(fresh, "new")
			if err := give(fresh, name); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("not on this file system: ", err)
			} else if err != nil {
				t.Fatal(err)
			}
			holds(name, "new")
			if _, err := os.Lstat(fresh); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it has its old name too: %v", err)
			}
			write(fresh, "newer")
			if err := give(fresh, name); !errors.Is(err, fs.ErrExist) {
				t.Errorf("over another file: %v", err)
			}
			holds(name, "new")
			holds(fresh, "newer")
			if err := os.Symlink("nowhere", name+"-link"); err == nil {
				if err := give(fresh, name+"-link"); !errors.Is(err, fs.ErrExist) {
					t.Errorf("over a link that leads nowhere: %v", err)
				}
				holds(fresh, "newer")
			}
			if err := give(filepath.Join(dir, "none"), name+"2"); err == nil {
				t.Error("a file that is not there got a name")
			}
		})
	}
}
