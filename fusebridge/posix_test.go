//go:build linux

package fusebridge_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// posixExcluded are the tests of the suite that this file system does not pass
// on purpose.
var posixExcluded = map[string]string{}

func TestPOSIX(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(posixtest.All)) {
		t.Run(name, func(t *testing.T) {
			if why, excluded := posixExcluded[name]; excluded {
				t.Skip(why)
			}
			s := mount(t, newMem(t, nil), &fusebridge.Options{ReadWrite: true, StateDir: t.TempDir()})
			posixtest.All[name](t, s.Dir())
		})
	}
}
