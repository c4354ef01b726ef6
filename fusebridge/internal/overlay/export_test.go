//go:build linux

package overlay

// What the external tests look at.
var (
	IsTemporary = isTemporary
	MaybeText   = maybeText
	WritesInode = writes
	StartIn     = startIn
)

// MostSights is how many openings are remembered.
const MostSights = mostSights
