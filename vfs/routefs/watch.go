package routefs

import (
	"context"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Watch implements vfs.Watcher by watching every store that dir reaches into.
// When one of them cannot watch, neither can the composite: a partial watch
// would look like quiet. A fixed store can watch too, it has nothing to tell.
func (f *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var watched []*source
	for _, src := range f.sources {
		if src == f.owner(dir) || vpath.Within(src.prefix, dir) {
			watched = append(watched, src)
		}
	}
	m := &merge{dir: dir, fn: fn, waiting: len(watched)}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, src := range watched {
		group.Go(func() {
			first := true
			err := src.in.Watch(inner, relDir(dir, src.prefix), func(e vfs.Event) {
				if first {
					first = false
					m.ready()
					return
				}
				m.pass(src, e)
			})
			cancel(err) // the first store to end ends the others
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(inner)
}

// relDir returns dir inside the route, its root when the route is below dir.
func relDir(dir, prefix string) string {
	if vpath.Within(dir, prefix) {
		return vpath.Rel(dir, prefix)
	}
	return "/"
}

// merge makes one watch of several.
type merge struct {
	dir string
	fn  func(vfs.Event)

	mu      sync.Mutex // held while fn runs
	waiting int        // stores whose watch is not in place yet
}

// ready counts a store whose watch is in place. The last one opens the merged
// watch with its overflow.
func (m *merge) ready() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting--; m.waiting == 0 {
		m.fn(vfs.Event{Path: m.dir, Overflow: true})
	}
}

// pass hands on an event of src. Before the merged watch is open it drops it:
// the change is older than the overflow that tells the watcher to look.
func (m *merge) pass(src *source, e vfs.Event) {
	e.Path = vpath.Join(src.prefix, e.Path)
	if e.Overflow {
		e.Path = m.dir
	} else if !src.shows(e.Path) {
		return
	}
	if !e.Overflow {
		e.Info.Path = e.Path
	}
	if e.Old != nil {
		old := *e.Old
		old.Path = e.Path
		e.Old = &old
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == 0 {
		m.fn(e)
	}
}
