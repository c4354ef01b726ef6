package walfile

// stampLen is the part of the index's header that a commit replaces. The header has it
// twice, and a writer changes the second one first.
const stampLen = 48

// Stamp says which commit is the last one of a database with a log: no two commits have
// the same. It is what SQLite itself compares to learn whether the pages that a
// connection has read are still those of the database, so equal stamps mean equal
// contents; a checkpoint does not change it.
type Stamp [stampLen]byte

// Places in a stamp, in bytes.
const stampIsInit = 12 // not 0 once the index is in use

// Stamp returns the stamp of the last commit. It is not ok while a commit is being
// published, and where the index cannot be read: ask the database then. It is safe for
// concurrent use.
func (f *Files) Stamp() (s Stamp, ok bool) {
	var head [2 * stampLen]byte
	if _, err := f.index.ReadAt(head[:], 0); err != nil {
		return s, false
	}
	s, second := Stamp(head[:stampLen]), Stamp(head[stampLen:])
	return s, s == second && s[stampIsInit] != 0
}
