package gramindex

import (
	"slices"
	"sync"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// tail is the set of paths whose files may differ from what the segments say.
type tail struct {
	sizes sizes

	mu       sync.Mutex
	noted    map[string]struct{} // since the last drain began
	sorted   []string            // the same but for added, in order; not changed in place
	added    []string            // noted and not yet in sorted
	draining []string            // those of which a segment is being made, like sorted
}

// reset forgets everything but these paths, and reports whether they are too many.
func (t *tail) reset(paths []string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noted, t.sorted, t.added, t.draining = map[string]struct{}{}, nil, nil, nil
	for _, path := range paths {
		t.add(path)
	}
	return len(t.noted) >= t.sizes.changed
}

// note adds a path, and reports whether there are too many.
func (t *tail) note(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(path)
	return len(t.noted)+len(t.draining) >= t.sizes.changed
}

func (t *tail) add(path string) {
	if _, ok := t.noted[path]; !ok {
		t.noted[path] = struct{}{}
		t.added = append(t.added, path)
	}
}

// sort brings sorted up to date. Writers leave that to those who need it.
func (t *tail) sort() {
	if len(t.added) > 0 {
		slices.SortFunc(t.added, vpath.Compare)
		t.sorted, t.added = union(t.sorted, t.added), nil
	}
}

// all returns every path, in order.
func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sort()
	return union(t.draining, t.sorted)
}

// has reports whether a path was noted since the last drain began.
func (t *tail) has(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, noted := t.noted[path]
	return noted
}

// holds reports whether a path is among all.
func (t *tail) holds(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, noted := t.noted[path]
	_, draining := slices.BinarySearchFunc(t.draining, path, vpath.Compare)
	return noted || draining
}

// full reports whether a drain is worth it.
func (t *tail) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.noted) >= t.sizes.fresh
}

// many reports whether there are too many for an index to be of use.
func (t *tail) many() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.noted) >= t.sizes.changed
}

// size returns how many paths there are, those that were noted twice counted twice.
func (t *tail) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.noted) + len(t.draining)
}

// drain returns the paths to make a segment of, until drained.
func (t *tail) drain() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sort()
	t.draining = t.sorted
	t.noted, t.sorted = map[string]struct{}{}, nil
	return t.draining
}

// drained ends a drain: made tells whether there is a segment of it.
func (t *tail) drained(made bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !made {
		for _, path := range t.draining {
			t.add(path)
		}
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
