package gramindex

import (
	"io"
	"iter"
)

// maxStream is how many grams of all its files a block has at most, so that files
// that are large or unlike all others take no more memory than others.
const maxStream = 8 << 20

// builder makes a segment of documents.
type builder struct {
	w       *segmentWriter
	grams   *gramSet
	inv     *inverter
	entries []entry
	enc     blockWriter
	most    int // entries of a block
}

func newBuilder(w io.Writer, sz sizes) (*builder, error) {
	s, err := newSegmentWriter(w)
	return &builder{w: s, most: sz.block, grams: newGramSet(), inv: newInverter()}, err
}

// add appends a document, whose path is greater than those before.
func (b *builder) add(d *Document) error {
	e := d.entry()
	switch e.kind {
	case Text:
		b.inv.add(b.grams.of(d.Content))
	case Opaque:
		b.inv.add([]gram{opaque})
	case Gone:
		b.inv.add(nil)
	}
	b.entries = append(b.entries, e)
	if len(b.entries) == b.most || len(b.inv.stream) >= maxStream {
		return b.flush()
	}
	return nil
}

func (b *builder) flush() error {
	if len(b.entries) == 0 {
		return nil
	}
	b.enc.entries(b.entries)
	b.inv.each(b.enc.posting)
	b.entries = b.entries[:0]
	block, data, err := b.enc.finish()
	if err != nil {
		return err
	}
	return b.w.add(block, data)
}

func (b *builder) finish() error {
	if err := b.flush(); err != nil {
		return err
	}
	return b.w.finish()
}

// build writes a segment of documents in order of their paths.
func build(w io.Writer, sz sizes, docs iter.Seq2[Document, error]) error {
	b, err := newBuilder(w, sz)
	if err != nil {
		return err
	}
	for d, err := range docs {
		if err != nil {
			return err
		}
		if err := b.add(&d); err != nil {
			return err
		}
	}
	return b.finish()
}
