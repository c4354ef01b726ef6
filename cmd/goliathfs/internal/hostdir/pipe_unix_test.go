//go:build unix

package hostdir_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
)

// A pipe is not opened, for that could wait for ever.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	_, err := vfs.Stat(t.Context(), d, "/pipe")
	if err == nil || !strings.Contains(err.Error(), "a device, pipe or socket, which is not opened") {
		t.Errorf("Stat: %v", err)
	}
}
