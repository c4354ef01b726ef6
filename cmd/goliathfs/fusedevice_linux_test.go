package main

import (
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// TestIsFuse: that something can be opened under the device's name is not
// enough.
func TestIsFuse(t *testing.T) {
	for _, name := range []string{"/dev/null", "/dev/zero", t.TempDir(), "/nope"} {
		if isFuse(name) {
			t.Errorf("%s passes for the FUSE device", name)
		}
	}
	if fusebridge.Probe().Err == nil && !isFuse(fuseDevice) {
		t.Errorf("%s can be mounted with and is not known", fuseDevice)
	}
}
