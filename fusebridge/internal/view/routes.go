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

// Routes remembers what the store says of its places: which can be written, which
// cannot be reached now, and whether others change anything. Asking may take a round
// trip to another process, so it is done once for each directory in a walk, and without
// locks. It is safe for concurrent use.
type Routes struct {
	backend vfs.Backend
	log     *slog.Logger

	mu     sync.Mutex
	places map[string]place // by prefix
	shared bool             // some place is changed by others, of whom it hears late
	turned bool             // a place can be written that could not, or the reverse
	back   bool             // a place that was away is back, and no one has looked through it since
}

// place is what is known of one place.
type place struct {
	told     bool // it has said whether it can be written
	writable bool
	away     error // why it could not be reached when it was asked last, nil when it could
}

func newRoutes(b vfs.Backend, log *slog.Logger) *Routes {
	return &Routes{backend: b, log: log, places: map[string]place{}}
}

// Ask asks for the place of a path, of a file or directory, and remembers the answer.
func (r *Routes) Ask(ctx context.Context, path string) (vfs.Route, error) {
	route, err := vfs.RouteOf(ctx, r.backend, path)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(route, err)
	return route, err
}

// note remembers an answer of the store. The lock is held.
func (r *Routes) note(route vfs.Route, err error) {
	of := r.places[route.Prefix]
	switch {
	case err == nil:
		r.turned = r.turned || of.told && of.writable != route.Writable
		r.shared = r.shared || route.Shared
		of = place{told: true, writable: route.Writable}
	case route.Prefix == "": // of which place it is, is not told
		return
	case errors.Is(err, vfs.ErrUnavailable): // of whether it can be written, that says nothing
		of.away = err
	}
	r.turn(route.Prefix, of)
}

// changed reports whether it has become known since it was asked last that a place can
// be written, or cannot.
func (r *Routes) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.turned
	r.turned = false
	return was
}

// Writable reports what is known of the directory of a path. Should it be wrong, the
// store refuses the commit.
func (r *Routes) Writable(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dir := vpath.Dir(path); ; dir = vpath.Dir(dir) {
		if of := r.places[dir]; of.told || dir == "/" {
			return of.writable || !of.told
		}
	}
}

// NothingWritable reports whether it is known that no place can be written.
func (r *Routes) NothingWritable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := false
	for _, of := range r.places {
		if of.writable {
			return false
		}
		told = told || of.told
	}
	return told
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
		if of, known := r.places[dir]; known || dir == "/" {
			return of.away
		}
	}
}

// anyAway returns why some place could not be reached when it was asked last.
func (r *Routes) anyAway() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.places {
		if of.away != nil {
			return of.away
		}
	}
	return nil
}

// observe asks for each place, says which went away and which are back, and reports
// whether any is. What has become a part of another place is forgotten.
func (r *Routes) observe(ctx context.Context) (back bool) {
	r.mu.Lock()
	places := slices.Collect(maps.Keys(r.places))
	r.mu.Unlock()
	for _, prefix := range places {
		in, away := r.reach(ctx, prefix)
		r.mu.Lock()
		if of := r.places[prefix]; in != prefix && in != "" {
			delete(r.places, prefix)
		} else {
			of.away = away
			r.turn(prefix, of)
		}
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	back, r.back = r.back, false
	return back
}

// turn notes what a place is now. The lock is held.
func (r *Routes) turn(prefix string, now place) {
	was := r.places[prefix].away
	r.places[prefix] = now
	switch {
	case now.away != nil && was == nil:
		r.log.Warn("the store is away, the mount shows its last state", "below", prefix, "error", now.away)
	case now.away == nil && was != nil:
		r.log.Info("the store is back", "below", prefix)
		r.back = true
	}
}

// reach asks for the place at a prefix: in which it is by now, "" where that is not
// told, and why it cannot be reached, nil when it can.
func (r *Routes) reach(ctx context.Context, prefix string) (in string, away error) {
	asking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	route, err := vfs.RouteOf(asking, r.backend, prefix)
	if errors.Is(err, vfs.ErrUnavailable) || err != nil && asking.Err() != nil && ctx.Err() == nil {
		return prefix, err
	}
	return route.Prefix, nil
}
