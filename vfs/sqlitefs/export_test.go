package sqlitefs

// FreshName is what is not finished yet is called.
var FreshName = freshName

// SetMaxKnown makes watches treat a namespace of more than n files as too large
// to remember.
func (s *FS) SetMaxKnown(n int) { s.db.maxKnown = n }
