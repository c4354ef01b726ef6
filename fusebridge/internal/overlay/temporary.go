package overlay

import "strings"

// isTemporary reports whether a name is one that programs give to files which are no
// one's business but theirs: swap files, locks, backups, probes, and the new text of a
// file that is about to be renamed over it. They live in the mount's memory only and
// never reach the store under that name. fresh says that the file is made by a call
// that would fail if there were one already, as mkstemp does: names that end in six
// characters of its choice count only then, since a person may give such a name, too.
func isTemporary(name string, fresh bool) bool {
	switch {
	case strings.HasPrefix(name, ".fuse_hidden"), // libfuse
		strings.HasPrefix(name, ".#"),              // Emacs' lock
		strings.HasPrefix(name, "._"),              // macOS
		strings.HasPrefix(name, ".goutputstream-"), // GLib, so gedit and GNOME Text Editor
		strings.HasSuffix(name, "~"),               // backups of Emacs, Vim, gedit
		strings.HasSuffix(name, "___jb_tmp___"),    // JetBrains
		strings.HasSuffix(name, "___jb_old___"),
		strings.HasSuffix(name, ".kate-swp"),
		len(name) > 2 && name[0] == '#' && name[len(name)-1] == '#', // Emacs' autosave
		name == "4913": // Vim's test of whether a directory can be written
		return true
	case strings.HasPrefix(name, "."):
		return isSwap(name) || fresh && strings.Count(name, ".") > 1 && isRandom(name[strings.LastIndexByte(name, '.')+1:]) // rsync
	}
	random, ok := strings.CutPrefix(name, "sed")
	return ok && fresh && isRandom(random)
}

// isSwap reports whether name is one of Vim's: .name.swp, .swo, .swx and so on, or
// .name.swpx, with which it tries the file system.
func isSwap(name string) bool {
	i := strings.LastIndexByte(name, '.')
	ext := name[i:]
	return i > 0 && strings.HasPrefix(ext, ".sw") && (len(ext) == len(".swp") || len(ext) == len(".swpx") && ext[4] == 'x')
}

// isRandom reports whether s can be six characters of mkstemp's choice, and is no word:
// of a hundred such, one or two are, and then show as any other file.
func isRandom(s string) bool {
	if len(s) != len("XXXXXX") {
		return false
	}
	lower := 0
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z':
			lower++
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
		default:
			return false
		}
	}
	return lower < len(s)
}
