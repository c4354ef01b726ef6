package gramindex

import (
	"slices"
	"sync"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// tail is the set of paths that were noted since the last drain began.
type tail struct {
	sizes sizes

	mu     sync.Mutex
	noted  map[string]struct{}
	sorted []string // the same but for added, in order; not changed in place
	added  []string // noted and not yet in sorted
}

// reset forgets everything but these paths, and reports whether they are too many.
func (t *tail) reset(paths []string) (many bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noted, t.sorted, t.added = map[string]struct{}{}, nil, nil
	return t.add(paths...)
}

// note adds paths, and reports whether there are too many.
func (t *tail) note(paths ...string) (many bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add(paths...)
}

func (t *tail) add(paths ...string) (many bool) {
	for _, path := range paths {
		if _, ok := t.noted[path]; !ok {
			t.noted[path] = struct{}{}
			t.added = append(t.added, path)
		}
	}
	return len(t.noted) >= t.sizes.changed
}

// all returns every path, in order.
func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inOrder()
}

// take returns every path, in order, and forgets them.
func (t *tail) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.inOrder()
	t.noted, t.sorted = map[string]struct{}{}, nil
	return all
}

// inOrder sorts what was added since the last time, which writers leave to those who
// need it.
func (t *tail) inOrder() []string {
	if len(t.added) > 0 {
		slices.SortFunc(t.added, vpath.Compare)
		t.sorted, t.added = union(t.sorted, t.added), nil
	}
	return t.sorted
}

// has reports whether a path is in the set.
func (t *tail) has(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, noted := t.noted[path]
	return noted
}

// full reports whether a drain is worth it.
func (t *tail) full() bool { return t.size() >= t.sizes.fresh }

// many reports whether there are too many for an index to be of use.
func (t *tail) many() bool { return t.size() >= t.sizes.changed }

func (t *tail) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.noted)
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
