//go:build linux

package view

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Routes remembers what the store says of its places: which directories can be
// written, what cannot be reached now, and whether others change anything. Asking may
// take a round trip to another process, so it is done once for each directory in a
// walk, and without locks. It is safe for concurrent use.
type Routes struct {
	backend vfs.Backend
	log     *slog.Logger

	mu     sync.Mutex
	walk   int              // number of the walk
	byDir  map[string]dirOf // what is known of each directory
	places map[string]error // by prefix: why it cannot be reached, nil where it can
	shared bool             // some place is changed by others, of whom it hears late
	turned bool             // a directory can be written that could not, or the reverse
	back   bool             // a place that was away is back, and no one has looked through it since
}

type dirOf struct {
	writable bool
	walk     int // of which this is known
}

func newRoutes(b vfs.Backend, log *slog.Logger) *Routes {
	return &Routes{backend: b, log: log, byDir: map[string]dirOf{}, places: map[string]error{}}
}

// anew has every directory asked for once more, as what was said of it may not hold
// any longer.
func (r *Routes) anew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.walk++
}

// learn asks for a directory, unless that was done in this walk.
func (r *Routes) learn(ctx context.Context, dir string) {
	r.mu.Lock()
	known := r.byDir[dir].walk == r.walk
	r.mu.Unlock()
	if !known {
		r.Ask(ctx, dir) // what goes wrong shows when the place is used
	}
}

// Ask asks for the place of a path, of a file or directory, and remembers the answer
// for the directory.
func (r *Routes) Ask(ctx context.Context, path string) (vfs.Route, error) {
	route, err := vfs.RouteOf(ctx, r.backend, path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if route.Prefix != "" {
		if _, known := r.places[route.Prefix]; !known {
			r.places[route.Prefix] = nil
		}
	}
	if err != nil { // of whether it can be written, that says nothing
		if errors.Is(err, vfs.ErrUnavailable) && route.Prefix != "" {
			r.turn(route.Prefix, err)
		}
		return route, err
	}
	r.turn(route.Prefix, nil)
	dir := path
	if route.Prefix != path {
		dir = vpath.Dir(path)
	}
	for _, dir := range []string{dir, path} {
		before, known := r.byDir[dir]
		r.turned = r.turned || known && before.writable != route.Writable
		r.byDir[dir] = dirOf{route.Writable, r.walk}
	}
	r.shared = r.shared || route.Shared
	return route, nil
}

// changed reports whether it has become known since it was asked last that a directory
// can be written, or cannot.
func (r *Routes) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.turned
	r.turned = false
	return was
}

// Writable reports what is known of a path: its directory's answer, or that of the
// nearest one above it, for routes begin at few places. Should it be wrong, the store
// refuses the commit.
func (r *Routes) Writable(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dir := vpath.Dir(path); ; dir = vpath.Dir(dir) {
		if of, known := r.byDir[dir]; known || dir == "/" {
			return of.writable || !known
		}
	}
}

// NothingWritable reports whether it is known that no directory can be written.
func (r *Routes) NothingWritable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.byDir {
		if of.writable {
			return false
		}
	}
	return len(r.byDir) > 0
}

// shares reports whether some place is changed by others, of whom it hears late.
func (r *Routes) shares() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shared
}

// Away returns why the place of a path could not be reached when it was asked last,
// nil when it could.
func (r *Routes) Away(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dir := path; ; dir = vpath.Dir(dir) {
		if err, known := r.places[dir]; known || dir == "/" {
			return err
		}
	}
}

// anyAway returns why some place could not be reached when it was asked last.
func (r *Routes) anyAway() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.places {
		if err != nil {
			return err
		}
	}
	return nil
}

// observe asks for each place, says which went away and which are back, and reports
// whether any is.
func (r *Routes) observe(ctx context.Context) (back bool) {
	r.mu.Lock()
	places := slices.Collect(maps.Keys(r.places))
	r.mu.Unlock()
	for _, prefix := range places {
		err := r.reach(ctx, prefix)
		r.mu.Lock()
		r.turn(prefix, err)
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	back, r.back = r.back, false
	return back
}

// turn notes why a place cannot be reached, nil when it can. The lock is held.
func (r *Routes) turn(prefix string, err error) {
	was := r.places[prefix]
	r.places[prefix] = err
	switch {
	case err != nil && was == nil:
		r.log.Warn("the store is away, the mount shows its last state", "below", prefix, "error", err)
	case err == nil && was != nil:
		r.log.Info("the store is back", "below", prefix)
		r.back = true
	}
}

// reach returns why a place cannot be reached, nil when it can.
func (r *Routes) reach(ctx context.Context, path string) error {
	asking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := vfs.RouteOf(asking, r.backend, path)
	if errors.Is(err, vfs.ErrUnavailable) || err != nil && asking.Err() != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
