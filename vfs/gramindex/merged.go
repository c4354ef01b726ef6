package gramindex

import (
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// merged walks through the candidates of several segments and the changed files
// at once, in order, each path once.
type merged struct {
	finders []*finder // each stands at a candidate
	begun   bool
	changed []string // those within the query
}

func newMerged(segs []*segment, q *query, changed []string) *merged {
	m := &merged{}
	for _, s := range segs {
		m.finders = append(m.finders, s.finder(q))
	}
	from, found := slices.BinarySearchFunc(changed, q.after, vpath.Compare)
	if found {
		from++
	}
	changed = changed[from:]
	end := len(changed)
	for i, path := range changed {
		if !strings.HasPrefix(path, q.below) && vpath.Compare(path, q.below) > 0 {
			end = i
			break
		}
	}
	m.changed = changed[:end]
	return m
}

// next returns the next candidate; false at the end.
func (m *merged) next() (string, bool, error) {
	if !m.begun {
		m.begun = true
		if err := m.advance(m.finders); err != nil {
			return "", false, err
		}
	}
	least := ""
	for _, f := range m.finders {
		if least == "" || before(f.path, least) {
			least = f.path
		}
	}
	if len(m.changed) > 0 && (least == "" || !before(least, m.changed[0])) {
		least = m.changed[0]
		m.changed = m.changed[1:]
	}
	if least == "" {
		return "", false, nil
	}
	return least, true, m.pass(least)
}

// pass moves the finders that stand at path behind it.
func (m *merged) pass(path string) error {
	for i := 0; i < len(m.finders); {
		f := m.finders[i]
		if f.path != path {
			i++
			continue
		}
		ok, err := f.step()
		if err != nil {
			return err
		}
		if ok {
			i++
		} else {
			m.finders = slices.Delete(m.finders, i, i+1)
		}
	}
	return nil
}

// advance moves every finder to its first candidate.
func (m *merged) advance(all []*finder) error {
	m.finders = nil
	for _, f := range all {
		ok, err := f.step()
		if err != nil {
			return err
		}
		if ok {
			m.finders = append(m.finders, f)
		}
	}
	return nil
}
