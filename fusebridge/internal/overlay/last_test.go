//go:build linux

package overlay_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
)

// TestLastToUse: what was typed is in the store when everyone is done with the file,
// also when the last of them was interrupted while waiting for it.
func TestLastToUse(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": ""})
	k := newKernel(t, mem, overlay.Options{})
	entry, _ := k.lookup("/f")
	const rounds = 3000
	for n := 1; n <= rounds; n++ {
		f := k.must("/f", appendTo)
		f.write("x")
		var others sync.WaitGroup
		for range 8 {
			cancel := make(chan struct{})
			others.Go(func() {
				in, out := fuse.OpenIn{InHeader: k.header(entry.NodeId), Flags: appendTo}, fuse.OpenOut{}
				if k.o.Open(cancel, &in, &out) == fuse.OK {
					file{k, entry.NodeId, out.Fh}.release()
				}
			})
			others.Go(func() { close(cancel) })
		}
		f.release() // without a close that commits, as after a mapping
		others.Wait()
		if got := stored(t, mem)["/f"]; got != strings.Repeat("x", n) {
			t.Fatalf("after %d openings the store has %d bytes; kept aside: %q", n, len(got), k.kept())
		}
	}
}
