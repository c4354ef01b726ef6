//go:build linux

package fusebridge

import "strings"

// maxScratch is the greatest size of an editor's temporary file, in bytes.
const maxScratch = 64 << 20

// isScratch reports whether a name is one that editors and desktops give to
// files which are no one's business: swap files, backups, locks, probes. They
// live in the mount's memory only and never reach the store.
func isScratch(name string) bool {
	switch {
	case strings.HasPrefix(name, ".fuse_hidden"),
		strings.HasPrefix(name, ".#"),
		strings.HasPrefix(name, "._"),
		strings.HasSuffix(name, "~"),
		len(name) > 2 && name[0] == '#' && name[len(name)-1] == '#':
		return true
	case strings.HasPrefix(name, "."):
		return isSwap(name)
	}
	return name == "4913" // vim's test of whether a directory can be written
}

// isSwap reports whether name is one of vim's: .name.swp, .swo, .swx and so on,
// or .name.swpx, with which it tries the file system.
func isSwap(name string) bool {
	i := strings.LastIndexByte(name, '.')
	ext := name[i:]
	return i > 0 && strings.HasPrefix(ext, ".sw") && (len(ext) == len(".swp") || len(ext) == len(".swpx") && ext[4] == 'x')
}
