package gramindex

import "slices"

// Hasher makes the grams of texts as numbers of 32 bits, for a store whose database has
// an index of sets of numbers: the texts whose numbers include all of a needle's are a
// superset of those that hold it, with and without regard to case. The numbers may be
// stored: they stay the same. A Hasher is for one goroutine at a time.
type Hasher struct{ set *gramSet }

// NewHasher returns a Hasher.
func NewHasher() *Hasher { return &Hasher{newGramSet()} }

// Text returns the numbers of a text that is valid UTF-8, distinct and in order.
func (h *Hasher) Text(text string) []int32 { return hashes(h.set.of(text)) }

// HashNeedle returns the numbers that every text has which holds the needle, distinct
// and in order; none when the needle is empty, not valid UTF-8 or has a line feed.
func HashNeedle(needle string) []int32 { return hashes(gramsOf(needle)) }

// hashes maps grams to numbers. Two that fall together only make more candidates.
func hashes(grams []gram) []int32 {
	all := make([]int32, len(grams))
	for i, g := range grams {
		all[i] = int32(uint64(g) * 0x9E3779B97F4A7C15 >> 32)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
