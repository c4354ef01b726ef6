package regular_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/internal/regular"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		if data, err := regular.Read(name); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := regular.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := regular.Read(dir); err == nil || errors.Is(err, regular.ErrNot) {
		t.Errorf("a directory: %v", err)
	}
}

// TestReadSpecial: what is no file is not even opened, also behind a link.
func TestReadSpecial(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // a socket's name is short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, target := range []string{"socket", os.DevNull} {
		link := filepath.Join(dir, "link.txtar")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if data, err := regular.Read(link); !errors.Is(err, regular.ErrNot) {
			t.Errorf("%s: %q, %v", target, data, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}
