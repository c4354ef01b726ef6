package gramindex

import (
	"hash/fnv"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// Kind says how a file can be searched.
type Kind byte

// The kinds of files.
const (
	Text   Kind = iota // its content is known
	Opaque             // its content cannot be read as text, so every search returns it
	Gone               // there is no such file any more
)

// Document is a file as the index reads it.
type Document struct {
	Path     string
	Revision vfs.Revision
	Content  string // of a Text
	Kind     Kind
}

// entry returns what is kept of d besides its grams.
func (d *Document) entry() entry {
	e := entry{path: d.Path, stamp: stamp(d.Revision), kind: d.Kind}
	if e.kind == Text && !utf8.ValidString(d.Content) {
		e.kind = Opaque
	}
	return e
}

// stamp shortens a revision to what tells it from another.
func stamp(rev vfs.Revision) uint64 {
	h := fnv.New64a()
	h.Write([]byte(rev))
	return h.Sum64()
}
