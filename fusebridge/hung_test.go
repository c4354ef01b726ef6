//go:build linux

package fusebridge_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// TestHungMounts: servers that are stopped are told as such. Nothing is
// mounted over them, but their mounts go when asked.
func TestHungMounts(t *testing.T) {
	t.Parallel()
	needFuse(t)
	const servers = 6
	hung := map[string]bool{}
	for range servers {
		dir := t.TempDir()
		_, out, cmd := child(t, "serve", dir)
		if line, err := out.ReadString('\n'); err != nil || line != "mounted <nil>\n" {
			t.Fatalf("the child says %q, %v", line, err)
		}
		stop(t, cmd.Process)
		t.Cleanup(func() { cmd.Process.Kill() })
		hung[dir] = true
	}
	all, err := fusebridge.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if hung[m.Dir] && m.Health != fusebridge.Hung {
			t.Errorf("%s is said to be %s", m.Dir, m.Health)
		}
	}
	var unmounting sync.WaitGroup
	for dir := range hung {
		if s, err := fusebridge.Mount(t.Context(), newMem(t, nil), dir, nil); err == nil || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("mounting over it: %v, %v", s, err)
		}
		unmounting.Go(func() {
			if err := fusebridge.Unmount(t.Context(), dir, nil); err != nil {
				t.Error(err)
			}
		})
	}
	unmounting.Wait()
	if all, err = fusebridge.List(); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if hung[m.Dir] {
			t.Errorf("left: %+v", m)
		}
	}
}
