package layout_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// What cannot be written is told by its name in the store: the folder may be named by a
// descriptor, which means nothing to a person.
func TestWriteFileRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	err := layout.WriteFile(filepath.Join(dir, "label.json"), nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "label.json of the store cannot be written") || strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
}
