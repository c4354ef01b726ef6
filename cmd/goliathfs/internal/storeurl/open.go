package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Want is what a verb will do with a store; the zero value only looks.
type Want = database.Want

// Spec is a store with other stores at some of its directories.
type Spec struct {
	URL    URL
	Routes []Route
}

// Shares reports whether two stores lie in one database of a scheme. Of Badger only
// one opening can hold it, and one of SQLite that is only looked at would be read
// from ever new copies while it is written to.
func (s Spec) Shares(other Spec, scheme Scheme) bool {
	theirs := other.databases(scheme)
	return slices.ContainsFunc(s.databases(scheme), func(name string) bool { return slices.Contains(theirs, name) })
}

// databases returns the names on the host of the databases that are there.
func (s Spec) databases(scheme Scheme) []string {
	var names []string
	add := func(u URL) {
		if _, err := os.Stat(u.Target); err == nil && u.Scheme == scheme {
			names = append(names, hostpath.Real(u.Target))
		}
	}
	add(s.URL)
	for _, r := range s.Routes {
		add(r.URL)
	}
	return names
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	Backend vfs.Backend // with the routes in place
	Base    vfs.Backend // the store of Spec.URL alone
	Parts   []Part      // the store and those of the routes
	Spec    Spec
}

// Part is one of the stores that make up a Store.
type Part struct {
	Prefix  string // "/" for the store itself
	URL     URL
	Backend vfs.Backend
}

// Opener opens stores that may share a database, as two namespaces of one do,
// and closes them together. The zero value is ready. It is for one goroutine;
// the stores are for any number.
type Opener struct {
	// NewRevision and Now are passed to the databases that are opened; nil means
	// their defaults.
	NewRevision revision.Func
	Now         func() time.Time
	// Logger is told what happens to the connections of stores; nil discards it.
	Logger *slog.Logger

	opened  []io.Closer
	alone   map[string]openAlone // by name on the host, without symbolic links
	leftOut []leftout.Entry
	notes   []string
	making  sync.Mutex // held while a store is made that Want.Lazy put off
}

// LeftOut returns what seeds hold that cannot be a virtual file, of the stores
// opened so far.
func (o *Opener) LeftOut() []leftout.Entry { return o.leftOut }

// Notes returns what people should know of how the stores were opened, in sentences.
func (o *Opener) Notes() []string { return o.notes }

// Open opens the store of a Spec and those of its routes. Where two stores share
// a database, open the one to write to first. Errors are sentences that name the
// store.
func (o *Opener) Open(ctx context.Context, spec Spec, want Want) (*Store, error) {
	base, err := o.one(ctx, spec.URL, want)
	if err != nil {
		return nil, err
	}
	s := &Store{Backend: base, Base: base, Spec: spec, Parts: []Part{{"/", spec.URL, base}}}
	if len(spec.Routes) == 0 {
		return s, nil
	}
	writableFirst := slices.Clone(spec.Routes)
	slices.SortStableFunc(writableFirst, func(a, b Route) int {
		switch {
		case a.ReadOnly == b.ReadOnly:
			return 0
		case b.ReadOnly:
			return -1
		}
		return 1
	})
	var routes []routefs.Route
	for _, r := range writableFirst {
		b, err := o.one(ctx, r.URL, r.want(want))
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", r.Prefix, err)
		}
		s.Parts = append(s.Parts, Part{r.Prefix, r.URL, b})
		routes = append(routes, routefs.Route{Prefix: r.Prefix, Backend: b, ReadOnly: r.ReadOnly})
	}
	if s.Backend, err = routefs.New(base, routes, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// want is what is wanted of the store of a route where want is of the whole.
func (r Route) want(want Want) Want {
	if r.ReadOnly {
		return Want{Long: want.Long}
	}
	return want
}

// Close closes every store that was opened, the last one first.
func (o *Opener) Close() error {
	var errs []error
	for _, c := range slices.Backward(o.opened) {
		errs = append(errs, c.Close())
	}
	o.opened, o.alone = nil, nil
	return errors.Join(errs...)
}

func (o *Opener) one(ctx context.Context, u URL, want Want) (vfs.Backend, error) {
	b, err := o.open(ctx, u, want)
	if errors.Is(err, fs.ErrInvalid) { // a namespace that cannot be
		err = Misuse{err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return b, nil
}

// closeLater has the Opener close c.
func (o *Opener) closeLater(c io.Closer) { o.opened = append(o.opened, c) }

func (o *Opener) open(ctx context.Context, u URL, want Want) (vfs.Backend, error) {
	if _, ok := u.kind(); ok {
		if u.All {
			return o.all(ctx, u, want)
		}
		if want.Lazy {
			return o.first(ctx, u)
		}
		return o.database(ctx, u, want)
	}
	switch u.Scheme {
	case Mem:
		return o.mem(ctx, u)
	case Static:
		return o.seed(ctx, u.Target)
	case Unix, TCP:
		return o.remote(ctx, u)
	case Backup:
		return o.backup(ctx, u, want)
	case Journal:
		return o.journal(ctx, u)
	}
	// What is left is Dir: its files have no revisions that an agent could use.
	return nil, Misuse{fmt.Errorf("a host folder is for copy and diff, write static:%s to look at it as a store", Escape(u.Target))}
}

// Misuse is the error of a Spec that no store can have, whatever is on the disk.
type Misuse struct{ err error }

func (m Misuse) Error() string { return m.err.Error() }
func (m Misuse) Unwrap() error { return m.err }

// missing is the error of a store that is not there, and matches fs.ErrNotExist.
// Only verbs that write make a store.
type missing struct{ url URL }

func (m missing) Error() string {
	m.url.ReadOnly = false
	return fmt.Sprintf("there is no such store, check the name, or make one with goliathfs copy SOURCE %s or goliathfs write %[1]s PATH", m.url)
}

func (m missing) Unwrap() error { return fs.ErrNotExist }

// Writable reports whether the file at a canonical path can be written by a verb
// that opens the store for that.
func (s *Store) Writable(ctx context.Context, path string) (bool, error) {
	switch s.Spec.route(path).URL.Scheme {
	case Unix, TCP, Postgres:
		route, err := vfs.RouteOf(ctx, s.Backend, path)
		return route.Writable, err
	}
	return s.Spec.Writable(path), nil
}

// Writable is Store.Writable as far as it can be told without opening: of a
// running agent and a server it is true.
func (s Spec) Writable(path string) bool {
	where := s.route(path)
	return !where.ReadOnly && !where.URL.ReadOnly && !where.URL.All && where.URL.Scheme != Static && where.URL.Scheme != Backup && where.URL.Scheme != Journal
}

// NothingWritable reports whether it is known, without opening, that no file can be
// written.
func (s Spec) NothingWritable() bool {
	return !s.Writable("/") && !slices.ContainsFunc(s.Routes, func(r Route) bool { return s.Writable(r.Prefix) })
}

// Lasts reports whether what is written at a canonical path is still there when
// the store has been closed.
func (s Spec) Lasts(path string) bool { return s.route(path).URL.Scheme != Mem }

// route returns where the file at a canonical path lies.
func (s Spec) route(path string) Route {
	where := Route{Prefix: "/", URL: s.URL}
	for _, r := range s.Routes {
		if vpath.Within(path, r.Prefix) && len(r.Prefix) > len(where.Prefix) {
			where = r
		}
	}
	return where
}

// OpenDir opens a host folder for a copy to, or a comparison with, another
// store. What that keeps inside the folder is no part of the folder.
func (o *Opener) OpenDir(u URL, want Want, other Spec) (*hostdir.Dir, error) {
	d, err := hostdir.Open(u.Target, want.Create)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	exclude(d, other.URL)
	for _, r := range other.Routes {
		exclude(d, r.URL)
	}
	o.closeLater(d)
	return d, nil
}

// exclude leaves a store that lies in a folder, or the file that it was seeded
// from, out of the folder.
func exclude(d *hostdir.Dir, u URL) {
	switch u.Scheme {
	case Badger, Dir, Mem, Static, Backup, Journal:
		if u.Target != "" {
			d.Exclude(u.Target)
		}
	case SQLite:
		d.Exclude(u.Target, u.Target+"-wal", u.Target+"-shm", u.Target+"-journal")
	}
}
