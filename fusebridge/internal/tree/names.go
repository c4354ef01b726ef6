package tree

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// MaxName is the greatest length of a name that the kernel's tools take, in
// bytes.
const MaxName = 255

// Holds reports whether a name is shown as another one, for programs would take what
// has it for a part of a repository.
func (t *Tree) Holds(name string) bool { return !t.repositories && vpath.OfRepository(name) }

// shownNames are the names of an entry that cannot show under its own.
type shownNames struct{ dir, file string }

func (e *entry) dirName() string {
	if e.shown != nil {
		return e.shown.dir
	}
	return e.name
}

func (e *entry) fileName() string {
	if e.shown != nil {
		return e.shown.file
	}
	return e.name
}

// reshow finds anew under which names e shows, after it or a name it has to
// avoid changed.
func (d *Dir) reshow(e *entry) {
	if s := e.shown; s != nil {
		delete(d.special, s.dir)
		delete(d.special, s.file)
		e.shown = nil
	}
	both := e.dir != nil && e.file != nil
	if !e.isAlive() || !both && !e.held && len(e.name) <= MaxName {
		return
	}
	taken := func(name string) bool { return d.child(name) != nil || d.special[name] != nil }
	s := &shownNames{dir: e.name, file: e.name}
	switch {
	case len(e.name) > MaxName: // also no name of a repository any more
		s.dir = Shorten(e.name, taken)
	case e.held:
		s.dir = vpath.Held(e.name, taken)
	}
	s.file = s.dir
	if both {
		s.file = vpath.Aside(e.name, func(name string) bool { return len(name) <= MaxName && taken(name) })
		if len(s.file) > MaxName {
			s.file = Shorten(s.file, func(name string) bool { return name == s.dir || taken(name) })
		}
	}
	e.shown = s
	if d.special == nil {
		d.special = map[string]*entry{}
	}
	for _, name := range []string{s.dir, s.file} {
		if name != e.name {
			d.special[name] = e
		}
	}
}

// bound returns the entries whose shown names depend on the one called name: it
// itself, the file that would show aside under that name, and whoever shows
// under it now.
func (d *Dir) bound(name string) [3]*entry {
	entries := [3]*entry{d.entryOf(name)}
	if of, ok := vpath.AsideOf(name); ok {
		entries[1] = d.child(of)
	}
	if e := d.special[name]; e != entries[1] {
		entries[2] = e
	}
	return entries
}

// Shorten cuts a name to MaxName bytes: its beginning, "~", eight hex digits of
// its hash, and its extension.
func Shorten(name string, taken func(string) bool) string {
	const maxExt = 16
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= maxExt {
		ext = name[i:]
	}
	stem := name[:MaxName-len("~01234567")-len(ext)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	h := fnv.New32a()
	for {
		h.Write([]byte(name))
		if short := fmt.Sprintf("%s~%08x%s", stem, h.Sum32(), ext); !taken(short) {
			return short
		}
	}
}
