//go:build unix

package sqlitefs

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a new file the owner of another one, where this user may do that: what
// root makes must be of use to whose database it is.
func giveTo(f *os.File, other fs.FileInfo) {
	if s, ok := other.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
