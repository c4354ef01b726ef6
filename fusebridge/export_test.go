//go:build linux

package fusebridge

import "strings"

// What the external tests look at.
var (
	IsScratch     = isScratch
	MaybeText     = maybeText
	Shorten       = shorten
	UnescapeMount = unescapeMount
	InodeOf       = inodeOf
	WritesInode   = writes
)

// ParseMountinfo returns the directories, types and sources of a mountinfo text.
func ParseMountinfo(text string) ([][3]string, error) {
	lines, err := parseMountinfo(strings.NewReader(text))
	var got [][3]string
	for _, m := range lines {
		got = append(got, [3]string{m.dir, m.fsType, m.source})
	}
	return got, err
}
