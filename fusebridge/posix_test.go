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
var posixExcluded = map[string]string{
	"FcntlFlockLocksFile": "one process locks a file twice and expects to be refused, which no native file system does",
	"FileBasic":           "it sets mode 0755; the mode belongs to the mount, and an agent's files are texts",
	"FileLarge":           "it writes bytes that are not UTF-8",
	"Link":                "a file of a store has one name, so hard links are refused",
	"LinkUnlinkRename":    "a file of a store has one name, so hard links are refused",
	"OpenSymlinkRace":     "a store holds no symbolic links",
	"SetattrSymlink":      "a store holds no symbolic links",
	"SymlinkReadlink":     "a store holds no symbolic links",
	"Tmpfile":             "a file without a name has no place in a store",
	"XAttr":               "a store keeps no attributes; those of the mount are fixed",
	"XAttrLarge":          "a store keeps no attributes; those of the mount are fixed",
}

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
