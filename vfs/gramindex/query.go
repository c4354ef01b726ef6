package gramindex

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// maxLookups is how many grams of a needle are looked up in a block, the rarest of
// those that were found first.
const maxLookups = 64

// query is a needle, and the range of paths in which it is looked for.
type query struct {
	grams []gram // none: every file may hold it
	below string // what paths begin with
	after string // and what they sort after
}

func newQuery(dir, after, needle string) query {
	q := query{grams: gramsOf(needle), below: dir + "/", after: after}
	if dir == "/" {
		q.below = "/"
	}
	if before(q.after, q.below) {
		q.after = q.below
	}
	if len(q.grams) > maxLookups { // any of them are right; these are spread evenly
		step := float64(len(q.grams)) / maxLookups
		for i := range maxLookups {
			q.grams[i] = q.grams[int(float64(i)*step)]
		}
		q.grams = q.grams[:maxLookups]
	}
	return q
}

// hit is a posting that was found, not yet read.
type hit struct{ r groupReader }

// candidates returns the files of a block that may hold the needle.
func (s *segment) candidates(b *block, q *query) (fileSet, error) {
	set := newFileSet(b.files)
	if len(q.grams) == 0 {
		set.fill(b.files)
		return set, nil
	}
	found, err := s.lookup(b, q.grams)
	if err != nil {
		return nil, err
	}
	scratch := newFileSet(b.files)
	for i := range found {
		into := scratch
		if i == 0 {
			into = set
		}
		r := &found[i].r
		if !r.read(into) {
			return nil, r.d.err
		}
		if i > 0 && !set.and(scratch) {
			break
		}
	}
	if len(b.groups) == 0 || b.groups[0].first != opaque {
		return set, nil
	}
	always, err := s.lookup(b, []gram{opaque})
	if err == nil && len(always) == 1 {
		if r := &always[0].r; r.read(scratch) {
			set.or(scratch)
		} else {
			err = r.d.err
		}
	}
	return set, err
}

// lookup finds the postings of all grams, the shortest first; none when one of
// the grams is nowhere in the block.
func (s *segment) lookup(b *block, grams []gram) ([]hit, error) {
	hits := make([]hit, 0, len(grams))
	last := -1
	var data []byte
	for _, g := range grams {
		i := b.groupOf(g)
		if i < 0 {
			return nil, nil
		}
		if i != last {
			from, end := b.group(i)
			var err error
			if data, err = s.chunk(b, from, end); err != nil {
				return nil, err
			}
			last = i
		}
		r := readGroup(b.groups[i].first, data, b.files)
		for r.step() && r.gram < g {
		}
		if r.d.err != nil {
			return nil, r.d.err
		}
		if r.gram != g {
			return nil, nil
		}
		hits = append(hits, hit{r})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.r.n, b.r.n) })
	return hits, nil
}

// finder walks through the candidates of one segment in order.
type finder struct {
	s    *segment
	q    *query
	at   int     // the block, from 0
	set  fileSet // its candidates, nil before it was looked at
	doc  int     // the next that may be one
	list []entry // of chunk
	has  int     // the chunk that is in list, -1 for none

	path string // of the candidate it stands at
}

func (s *segment) finder(q *query) *finder {
	return &finder{s: s, q: q, at: s.blockAfter(q.after), has: -1}
}

// step goes to the next candidate; false when there is none.
func (f *finder) step() (bool, error) {
	for f.at < len(f.s.blocks) {
		b := &f.s.blocks[f.at]
		if f.set == nil {
			if !strings.HasPrefix(b.first, f.q.below) && before(f.q.below, b.first) {
				break // it begins after all that is looked for
			}
			var err error
			if f.set, err = f.s.candidates(b, f.q); err != nil {
				return false, err
			}
			f.doc = 0
			if before(b.first, f.q.after) || b.first == f.q.after {
				if f.set.next(0) >= 0 {
					if f.doc, err = f.s.find(b, f.q.after); err != nil {
						return false, err
					}
				}
			}
		}
		found, err := f.inBlock(b)
		if found || err != nil {
			return found, err
		}
		f.at, f.set, f.has = f.at+1, nil, -1
	}
	f.at = len(f.s.blocks)
	return false, nil
}

// inBlock goes to the next candidate of a block.
func (f *finder) inBlock(b *block) (bool, error) {
	for {
		d := f.set.next(f.doc)
		if d < 0 || d >= b.files {
			return false, nil
		}
		f.doc = d + 1
		if chunk := d / chunkEntries; chunk != f.has {
			var err error
			if f.list, err = f.s.entriesOf(f.list[:0], b, chunk); err != nil {
				return false, err
			}
			f.has = chunk
		}
		if d%chunkEntries >= len(f.list) {
			return false, errDamaged
		}
		e := &f.list[d%chunkEntries]
		if !strings.HasPrefix(e.path, f.q.below) {
			if vpath.Compare(e.path, f.q.below) > 0 {
				f.at = len(f.s.blocks) // past all that is looked for
				f.set = nil
				return false, nil
			}
			continue
		}
		if e.kind != Gone {
			f.path = e.path
			return true, nil
		}
	}
}
