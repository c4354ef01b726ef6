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
	return isProbe(name)
}

// isSwap reports whether name is one of vim's: .name.swp, .swo, .swx and so on,
// or .name.swpx, with which it tries the file system.
func isSwap(name string) bool {
	i := strings.LastIndexByte(name, '.')
	ext := name[i:]
	return i > 0 && strings.HasPrefix(ext, ".sw") && (len(ext) == len(".swp") || len(ext) == len(".swpx") && ext[4] == 'x')
}

// isProbe reports whether name is vim's test of whether a directory can be
// written: 4913, or that with 123 added again and again where it is taken.
func isProbe(name string) bool {
	const first, step, last = 4913, 123, 9999
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' || n > last {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return len(name) == 4 && n >= first && (n-first)%step == 0
}
