package vpath

import "strings"

// OfRepository reports whether a name, one segment of a path, can make git or hg
// take the folder that holds it for a repository of the user's own, whose
// configuration they then run: ".git" and ".hg", and "HEAD", without which no
// folder is a bare repository. It holds for every spelling that some file system
// takes for one of these: of other case, with characters that HFS+ ignores, with
// the endings and short names of NTFS.
//
// Whoever shows a store's files on a host shows such a name as another one, or
// leaves it out, unless a person asked for it.
func OfRepository(name string) bool {
	if name == "" || name[0] < 0x80 && !strings.ContainsRune(".gGhH", rune(name[0])) {
		return false
	}
	bare := strings.Map(func(r rune) rune {
		if ignoredByHFS(r) {
			return -1
		}
		return r
	}, name)
	bare, _, _ = strings.Cut(bare, ":")  // an NTFS stream of the file
	bare = strings.TrimRight(bare, ". ") // dropped by Windows
	for _, known := range [...]string{".git", ".hg", "git~1", "hg~1", "HEAD"} {
		if strings.EqualFold(bare, known) {
			return true
		}
	}
	return false
}

func ignoredByHFS(r rune) bool {
	return r >= 0x200C && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x206A && r <= 0x206F || r == 0xFEFF
}
