package gramindex

import (
	"maps"
	"slices"
	"sync"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// tail is the set of paths whose files may differ from what the segments say.
type tail struct {
	sizes    sizes
	mu       sync.Mutex
	fresh    map[string]struct{} // noted last, fewer than sizes.fresh
	waiting  []string            // noted before, in order, not changed in place
	draining []string            // those of which a segment is being made, likewise
}

// reset forgets everything but these paths, and reports whether they are too many.
func (t *tail) reset(paths []string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fresh, t.draining = map[string]struct{}{}, nil
	t.waiting = slices.Clone(paths)
	slices.SortFunc(t.waiting, vpath.Compare)
	return len(t.waiting) >= t.sizes.changed
}

// note adds a path, and reports whether there are too many.
func (t *tail) note(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fresh[path] = struct{}{}
	if len(t.fresh) >= t.sizes.fresh {
		t.waiting = union(t.waiting, t.sortedFresh())
		clear(t.fresh)
	}
	return len(t.waiting)+len(t.draining) >= t.sizes.changed
}

func (t *tail) sortedFresh() []string {
	return slices.SortedFunc(maps.Keys(t.fresh), vpath.Compare)
}

// all returns every path, in order.
func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return union(union(t.draining, t.waiting), t.sortedFresh())
}

// has reports whether a path was noted since the last drain began.
func (t *tail) has(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, fresh := t.fresh[path]
	_, waiting := slices.BinarySearchFunc(t.waiting, path, vpath.Compare)
	return fresh || waiting
}

// holds reports whether a path is among all.
func (t *tail) holds(path string) bool {
	if t.has(path) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, found := slices.BinarySearchFunc(t.draining, path, vpath.Compare)
	return found
}

// full reports whether a drain is worth it.
func (t *tail) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) > 0
}

// many reports whether there are too many for an index to be of use.
func (t *tail) many() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting) >= t.sizes.changed
}

// drain returns the paths to make a segment of, until drained.
func (t *tail) drain() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = union(t.waiting, t.sortedFresh())
	t.waiting = nil
	clear(t.fresh)
	return t.draining
}

// drained ends a drain: made tells whether there is a segment of it.
func (t *tail) drained(made bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !made {
		t.waiting = union(t.draining, t.waiting)
	}
	t.draining = nil
}

// union merges two sets that are in order.
func union(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	all := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := vpath.Compare(a[0], b[0])
		if c <= 0 {
			all = append(all, a[0])
			a = a[1:]
		} else {
			all = append(all, b[0])
		}
		if c >= 0 {
			b = b[1:]
		}
	}
	return append(append(all, a...), b...)
}
