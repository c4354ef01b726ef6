package agentsim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
)

// TestLinksToDevices: a checkout may hold a link to what never ends; it is told, not
// read.
func TestLinksToDevices(t *testing.T) {
	link := filepath.Join(t.TempDir(), "a.txtar")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	_, loaded := agentsim.Load(link)
	_, model := blackbox.LoadModel(link, nil)
	for _, err := range []error{loaded, model} {
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a link to a device: %v", err)
		}
	}
}
