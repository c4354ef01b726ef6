package gramindex

import (
	"context"
	"io"
)

// walker walks through the entries of a segment in order.
type walker struct {
	s       *segment
	at      int // the block
	doc     int // the next entry in it
	entries []entry
}

// peek returns the entry it stands at, nil at the end.
func (w *walker) peek() (*entry, error) {
	for w.at < len(w.s.blocks) {
		b := &w.s.blocks[w.at]
		if w.doc < b.files {
			if w.entries == nil {
				var err error
				if w.entries, err = w.s.allEntries(b); err != nil {
					return nil, err
				}
			}
			return &w.entries[w.doc], nil
		}
		w.skipBlock()
	}
	return nil, nil
}

func (w *walker) skipBlock() { w.at, w.doc, w.entries = w.at+1, 0, nil }

// walkers walk through several segments at once, oldest first.
type walkers []*walker

func walk(segs []*segment) walkers {
	ws := make(walkers, len(segs))
	for i, s := range segs {
		ws[i] = &walker{s: s}
	}
	return ws
}

// next returns the least entry and the newest walker that stands at it; nil at the
// end. Entries of the same path in older segments are passed over by pass.
func (ws walkers) next() (*entry, int, error) {
	var least *entry
	newest := -1
	for i, w := range ws {
		e, err := w.peek()
		if err != nil {
			return nil, 0, err
		}
		if e != nil && (least == nil || !before(least.path, e.path)) {
			least, newest = e, i
		}
	}
	return least, newest, nil
}

// pass moves every walker that stands at a path behind it.
func (ws walkers) pass(path string) error {
	for _, w := range ws {
		e, err := w.peek()
		if err != nil {
			return err
		}
		if e != nil && e.path == path {
			w.doc++
		}
	}
	return nil
}

// merger writes one segment in place of several: of each path what the newest
// knows. Contents are not read: postings get the new numbers of their files.
type merger struct {
	sizes   sizes
	out     *segmentWriter
	ws      walkers
	base    bool // nothing older is left, so files that are gone are forgotten
	enc     blockWriter
	entries []entry
	plan    []*source // where entries come from
}

// source is a block that is being merged.
type source struct {
	s      *segment
	b      *block
	number []int16 // that each of its files gets, -1 for none

	group int
	r     groupReader
	done  bool
}

// merge writes what segs, oldest first, know. With base there is nothing older.
func merge(ctx context.Context, w io.Writer, sz sizes, segs []*segment, base bool) error {
	out, err := newSegmentWriter(w)
	if err != nil {
		return err
	}
	m := &merger{sizes: sz, out: out, ws: walk(segs), base: base}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		copied, err := m.copyBlock()
		if err != nil {
			return err
		}
		if copied {
			continue
		}
		e, from, err := m.ws.next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if !base || e.kind != Gone {
			m.take(*e, m.ws[from])
		}
		if err := m.ws.pass(e.path); err != nil {
			return err
		}
		if len(m.entries) == m.sizes.block*3/2 {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	if err := m.flush(); err != nil {
		return err
	}
	return out.finish()
}

// copyBlock copies the block that comes next as it is, when nothing else falls
// into it and what waits to be written is empty or large enough for a block of its
// own.
func (m *merger) copyBlock() (bool, error) {
	if n := len(m.entries); n > 0 && n < m.sizes.block/2 {
		return false, nil
	}
	e, from, err := m.ws.next()
	if e == nil || err != nil {
		return false, err
	}
	w := m.ws[from]
	b := &w.s.blocks[w.at]
	if w.doc > 0 || m.base && b.gone > 0 || b.files < m.sizes.block/2 {
		return false, nil
	}
	for i, other := range m.ws {
		e, err := other.peek()
		if err != nil {
			return false, err
		}
		if i != from && e != nil && !before(b.last, e.path) {
			return false, nil
		}
	}
	if err := m.flush(); err != nil {
		return false, err
	}
	data, err := w.s.verified(b)
	if err != nil {
		return false, err
	}
	w.skipBlock()
	return true, m.out.add(*b, data)
}

// verified returns the bytes of a block, whose checksums all match.
func (s *segment) verified(b *block) ([]byte, error) {
	data, err := s.bytes(b.at, int(b.size))
	if err != nil {
		return nil, err
	}
	for i := range b.chunks {
		from, end := b.chunk(i)
		if _, err := cut(data, from, end); err != nil {
			return nil, err
		}
	}
	for i := range b.groups {
		from, end := b.group(i)
		if _, err := cut(data, from, end); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// cut returns a chunk of a block without its checksum.
func cut(data []byte, from, end uint32) ([]byte, error) {
	if from > end || int64(end) > int64(len(data)) {
		return nil, errDamaged
	}
	return unseal(data[from:end])
}

// take plans that the entry at which w stands is the next one.
func (m *merger) take(e entry, w *walker) {
	b := &w.s.blocks[w.at]
	var src *source
	for _, s := range m.plan {
		if s.b == b {
			src = s
		}
	}
	if src == nil {
		src = &source{s: w.s, b: b, number: make([]int16, b.files)}
		for i := range src.number {
			src.number[i] = -1
		}
		m.plan = append(m.plan, src)
	}
	src.number[w.doc] = int16(len(m.entries))
	m.entries = append(m.entries, e)
}

// flush writes the planned entries as a block.
func (m *merger) flush() error {
	if len(m.entries) == 0 {
		return nil
	}
	m.enc.entries(m.entries)
	for _, src := range m.plan {
		if err := src.start(); err != nil {
			return err
		}
	}
	out, in := newFileSet(len(m.entries)), newFileSet(maxBlock)
	var docs []uint16
	for {
		least, any := gram(0), false
		for _, src := range m.plan {
			if !src.done && (!any || src.r.gram < least) {
				least, any = src.r.gram, true
			}
		}
		if !any {
			break
		}
		clear(out)
		for _, src := range m.plan {
			if src.done || src.r.gram != least {
				continue
			}
			if err := src.into(out, in[:(src.b.files+63)/64]); err != nil {
				return err
			}
		}
		if docs = out.appendDocs(docs[:0]); len(docs) > 0 {
			m.enc.posting(least, docs)
		}
	}
	m.entries, m.plan = m.entries[:0], m.plan[:0]
	b, data, err := m.enc.finish()
	if err != nil {
		return err
	}
	return m.out.add(b, data)
}

// start goes to the first gram of the block.
func (src *source) start() error {
	src.group = -1
	return src.advance()
}

// advance goes to the next gram.
func (src *source) advance() error {
	for src.group < 0 || !src.r.step() {
		if src.group >= 0 && src.r.d.err != nil {
			return src.r.d.err
		}
		if src.group++; src.group == len(src.b.groups) {
			src.done = true
			return nil
		}
		from, end := src.b.group(src.group)
		data, err := src.s.chunk(src.b, from, end)
		if err != nil {
			return err
		}
		src.r = readGroup(src.b.groups[src.group].first, data, src.b.files)
	}
	return nil
}

// into puts the files of the current gram into out, by their new numbers, and goes
// to the next gram.
func (src *source) into(out, in fileSet) error {
	if !src.r.read(in) {
		return src.r.d.err
	}
	for d := in.next(0); d >= 0; d = in.next(d + 1) {
		if n := src.number[d]; n >= 0 {
			out[n/64] |= 1 << (n % 64)
		}
	}
	return src.advance()
}
