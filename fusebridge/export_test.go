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

// WithoutEpoch lets a writable mount be as on kernels before 6.16.
func WithoutEpoch(o *Options) *Options {
	o.noEpoch = true
	return o
}

// ParseMountinfo returns the directories, types and sources of a mountinfo text.
func ParseMountinfo(text string) ([][3]string, error) {
	lines, err := parseMountinfo(strings.NewReader(text))
	var got [][3]string
	for _, m := range lines {
		got = append(got, [3]string{m.dir, m.fsType, m.source})
	}
	return got, err
}
