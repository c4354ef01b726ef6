package gramindex

import "errors"

// Sizes for tests, in which a block has few files.
type Sizes struct{ Block, Fresh, Changed int }

// NewSized is New with other sizes.
func NewSized(src Source, opts *Options, sz Sizes) *Index {
	return newIndex(src, opts, sizes{sz.Block, sz.Fresh, sz.Changed})
}

// Quiet waits for the background job.
func (x *Index) Quiet() { x.Wait() }

// Segments returns how many files each segment has, oldest first.
func (x *Index) Segments() []int {
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	var n []int
	for _, s := range x.view.segments {
		n = append(n, s.files)
	}
	return n
}

// Least is least.
func Least(r rune) rune { return least(r) }

// Posting encodes a posting and reads it back.
func Posting(docs []uint16, files int) (bits int, back []uint16, ok bool) {
	var w bitWriter
	w.put(5, 3) // postings begin anywhere
	w.putPosting(docs, files)
	w.flush()
	set := newFileSet(files)
	ok = set.readPosting(w.b, 3, len(docs), files)
	return postingBits(len(docs), files), set.appendDocs(nil), ok
}

// Holds reports whether a text has all grams of a needle.
func Holds(text, needle string) bool {
	has := map[gram]bool{}
	for _, g := range newGramSet().of(text) {
		if has[g] {
			panic("a gram is there twice")
		}
		has[g] = true
	}
	for _, g := range gramsOf(needle) {
		if !has[g] {
			return false
		}
	}
	return true
}

// OpenBytes opens a segment and reads all of it.
func OpenBytes(data []byte) error {
	s, err := openSegment(&memoryPart{data}, int64(len(data)))
	if err != nil {
		return err
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		if _, err := s.verified(b); err != nil {
			return err
		}
		if _, err := s.allEntries(b); err != nil {
			return err
		}
		src := source{s: s, b: b, number: make([]int16, b.files)}
		out, in := newFileSet(b.files), newFileSet(b.files)
		err := src.start()
		for err == nil && !src.done {
			err = src.into(out, in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Decode takes bytes for each thing that has a checksum in a segment, as if it had
// matched, and returns the first error.
func Decode(data []byte) error {
	blocks, err := decodeDirectory(data)
	if err == nil {
		s := &segment{data: make([]byte, 100), size: 100, blocks: blocks}
		q := newQuery("/", "", "text")
		f := s.finder(&q)
		for ok := true; ok && err == nil; {
			ok, err = f.step()
		}
	}
	_, entryErr := decodeEntries(nil, data)
	return errors.Join(err, entryErr, DecodeGroup(data))
}

// DecodeGroup reads the postings of a group of a block of 100 files.
func DecodeGroup(data []byte) error {
	r := readGroup(gramOf('A', 'B', 'C'), data, 100)
	set := newFileSet(100)
	for r.step() && r.read(set) {
	}
	return r.d.err
}
