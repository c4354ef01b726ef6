package gramindex

import "slices"

// inverter turns the grams of files, one file after another, into postings.
type inverter struct {
	slots  []invSlot // a hash table; its size is a power of two
	grams  []gram    // in order of appearance
	counts []uint32  // files that hold each
	stream []uint32  // for each file the indexes into grams that it has
	ends   []int     // where each file's part of stream ends
}

type invSlot struct {
	gram  gram
	index uint32 // into grams, plus one; 0 when the slot is free
}

func newInverter() *inverter { return &inverter{slots: make([]invSlot, 1<<16)} }

// add appends a file with these distinct grams.
func (v *inverter) add(list []gram) {
	for _, g := range list {
		i := v.index(g)
		v.counts[i]++
		v.stream = append(v.stream, i)
	}
	v.ends = append(v.ends, len(v.stream))
}

func (v *inverter) index(g gram) uint32 {
	i := slot(g, len(v.slots))
	for {
		s := &v.slots[i]
		if s.index == 0 {
			break
		}
		if s.gram == g {
			return s.index - 1
		}
		i = (i + 1) & (len(v.slots) - 1)
	}
	v.grams = append(v.grams, g)
	v.counts = append(v.counts, 0)
	v.slots[i] = invSlot{g, uint32(len(v.grams))}
	if len(v.grams) > len(v.slots)/2 {
		v.grow()
	}
	return uint32(len(v.grams) - 1)
}

func (v *inverter) grow() {
	v.slots = make([]invSlot, 2*len(v.slots))
	for k, g := range v.grams {
		i := slot(g, len(v.slots))
		for v.slots[i].index != 0 {
			i = (i + 1) & (len(v.slots) - 1)
		}
		v.slots[i] = invSlot{g, uint32(k + 1)}
	}
}

// each calls fn for every gram in order, with the files that hold it, and empties v.
func (v *inverter) each(fn func(g gram, docs []uint16)) {
	at := make([]uint32, len(v.grams)+1)
	for i, n := range v.counts {
		at[i+1] = at[i] + n
	}
	docs := make([]uint16, len(v.stream))
	next := slices.Clone(at[:len(v.grams)])
	from := 0
	for d, end := range v.ends {
		for _, i := range v.stream[from:end] {
			docs[next[i]] = uint16(d)
			next[i]++
		}
		from = end
	}
	sorted := slices.Clone(v.grams)
	slices.Sort(sorted)
	for _, g := range sorted {
		i := v.index(g)
		fn(g, docs[at[i]:at[i+1]])
	}
	v.reset()
}

func (v *inverter) reset() {
	clear(v.slots)
	v.grams, v.counts, v.stream, v.ends = v.grams[:0], v.counts[:0], v.stream[:0], v.ends[:0]
}
