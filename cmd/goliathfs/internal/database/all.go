package database

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Spaces holds the files of several namespaces.
type Spaces interface {
	// Namespaces returns the names of those that hold files, in order.
	Namespaces(ctx context.Context) ([]string, error)
	// Space returns the files of one, which whoever took them closes. fs.ErrInvalid: no
	// store can have that name.
	Space(name string) (Space, error)
}

// Space is the files of one namespace.
type Space interface {
	vfs.Backend
	io.Closer
}

// SpacesOf returns the namespaces of a database.
func SpacesOf(db Database) Spaces { return spaces{db} }

// spaces are those of a database.
type spaces struct{ db Database }

func (s spaces) Namespaces(ctx context.Context) ([]string, error) { return s.db.Namespaces(ctx) }

func (s spaces) Space(name string) (Space, error) { return s.db.View(name) }

// All shows every namespace as one read-only store: a directory for each that holds
// files, with the name that Segment gives it. Namespaces that come later show, too. It
// is safe for concurrent use.
type All struct {
	from Spaces

	mu    sync.Mutex
	views map[string]Space // every one that was opened, by namespace; guarded by mu
	shown *all             // replaced when the namespaces change; guarded by mu
}

// all is the store as it is for as long as the same namespaces hold files.
type all struct {
	names   []string
	routes  map[string]bool // the directories
	files   *routefs.FS
	leftOut []leftout.Entry
}

var _ interface {
	vfs.Backend
	vfs.Statter
	vfs.Watcher
	vfs.Router
	vfs.Searcher
	Unlister
	io.Closer
} = (*All)(nil)

// NewAll returns the namespaces of a database, which the caller closes after it.
func NewAll(ctx context.Context, db Database) (*All, error) { return AllOf(ctx, spaces{db}) }

// AllOf returns the namespaces of something else than a database, which the caller
// closes after it.
func AllOf(ctx context.Context, from Spaces) (*All, error) {
	a := &All{from: from, views: map[string]Space{}}
	if _, err := a.look(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// look asks which namespaces there are.
func (a *All) look(ctx context.Context) (*all, error) {
	names, err := a.from.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown != nil && slices.Equal(a.shown.names, names) {
		return a.shown, nil
	}
	now := &all{names: names, routes: map[string]bool{}}
	var routes []routefs.Route
	for _, name := range names {
		prefix := "/" + Segment(name)
		view, err := a.view(name)
		if err == nil {
			err = vpath.CheckFile(prefix)
		} else if !errors.Is(err, fs.ErrInvalid) {
			return nil, err
		}
		if err != nil {
			now.leftOut = append(now.leftOut, leftout.Entry{Path: prefix, Err: fmt.Errorf("the namespace %q cannot be shown: %w", name, err)})
			continue
		}
		now.routes[prefix] = true
		routes = append(routes, routefs.Route{Prefix: prefix, Backend: view, ReadOnly: true})
	}
	nothing, err := staticfs.New(nil)
	if err != nil {
		return nil, err
	}
	if now.files, err = routefs.New(nothing, routes, nil); err != nil {
		return nil, err
	}
	a.shown = now
	return now, nil
}

// view returns the files of one namespace. mu is held.
func (a *All) view(name string) (Space, error) {
	if view, ok := a.views[name]; ok {
		return view, nil
	}
	view, err := a.from.Space(name)
	if err == nil {
		a.views[name] = view
	}
	return view, err
}

// at returns the store for a look at a path. It asks anew for namespaces where one
// may be missing: above them all, and in one that is not known.
func (a *All) at(ctx context.Context, path string) (*all, error) {
	a.mu.Lock()
	now := a.shown
	a.mu.Unlock()
	if path != "/" && now.routes[top(path)] {
		return now, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.look(ctx)
}

// page returns the store for one page of a list. Namespaces are asked for at the first:
// what comes while a list is followed need not be in it.
func (a *All) page(ctx context.Context, dir string, opts vfs.ListOptions) (*all, error) {
	if dir != "/" || opts.After == "" {
		return a.at(ctx, dir)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shown, ctx.Err()
}

// top returns the first directory of a path, or the path where there is none.
func top(path string) string {
	for dir := vpath.Dir(path); dir != "/"; dir = vpath.Dir(path) {
		path = dir
	}
	return path
}

// Read implements vfs.Backend.
func (a *All) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	now, err := a.at(ctx, path)
	if err != nil {
		return vfs.File{}, err
	}
	return now.files.Read(ctx, path)
}

// Stat implements vfs.Statter.
func (a *All) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	now, err := a.at(ctx, path)
	if err != nil {
		return vfs.Info{}, err
	}
	return now.files.Stat(ctx, path)
}

// List implements vfs.Backend.
func (a *All) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	now, err := a.page(ctx, dir, opts)
	if err != nil {
		return vfs.Page{}, err
	}
	return now.files.List(ctx, dir, opts)
}

// Search implements vfs.Searcher.
func (a *All) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	now, err := a.page(ctx, dir, opts.ListOptions)
	if err != nil {
		return vfs.Page{}, err
	}
	return now.files.Search(ctx, dir, opts)
}

// Route implements vfs.Router.
func (a *All) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	now, err := a.at(ctx, path)
	if err != nil {
		return vfs.Route{}, err
	}
	route, err := now.files.Route(ctx, path)
	route.Writable = false // the place above them holds no files
	return route, err
}

// lookEvery is how often Watch looks for namespaces that have come or gone.
const lookEvery = time.Second

// Watch implements vfs.Watcher. Of a namespace that comes or goes it learns within a
// second or so, and tells an overflow.
func (a *All) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	now, err := a.at(ctx, dir)
	if err != nil {
		return err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		inner, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- now.files.Watch(inner, dir, fn) }()
		next, err := a.changed(ctx, now, tick.C, done)
		cancel()
		if next == nil {
			return err
		}
		<-done // fn is called by one watch at a time
		now = next
	}
}

// changed waits until other namespaces are there than in now, and returns the store
// as it is then; nil with the error of the watch when that ends before. That the
// database could not be asked is of no account: it is asked again.
func (a *All) changed(ctx context.Context, now *all, tick <-chan time.Time, done <-chan error) (*all, error) {
	for {
		select {
		case err := <-done:
			return nil, err
		case <-tick:
			if next, err := a.look(ctx); err == nil && next != now {
				return next, nil
			}
		}
	}
}

// Unlisted implements Unlister: how many files are in namespaces that are no names,
// namespaces that no path can name, and what the databases do not list.
func (a *All) Unlisted(ctx context.Context, dir string) ([]leftout.Entry, error) {
	now, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	var found []leftout.Entry
	if db, ok := a.Database(); ok && dir == "/" {
		rows, err := OfNoName(ctx, db)
		if err != nil {
			return nil, err
		}
		if rows > 0 {
			found = append(found, leftout.Entry{Path: "/", Err: fmt.Errorf("%d of its files are in namespaces that are no names, blank or no text", rows)})
		}
	}
	for _, left := range now.leftOut {
		if vpath.Within(left.Path, dir) {
			found = append(found, left)
		}
	}
	for _, name := range now.names {
		prefix, inside := "/"+Segment(name), "/"
		switch {
		case !now.routes[prefix]:
			continue
		case vpath.Within(dir, prefix):
			inside = vpath.Rel(dir, prefix)
		case !vpath.Within(prefix, dir):
			continue
		}
		a.mu.Lock()
		view, ok := a.views[name].(Unlister)
		a.mu.Unlock()
		if !ok {
			continue
		}
		rows, err := view.Unlisted(ctx, inside)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found = append(found, leftout.Entry{Path: vpath.Join(prefix, row.Path), Err: row.Err})
		}
	}
	return found, nil
}

// TooLong returns the files whose path is too long below their namespace's directory.
// It walks through every file.
func (a *All) TooLong(ctx context.Context) ([]leftout.Entry, error) {
	now, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	var found []leftout.Entry
	for file, err := range now.files.Unreachable(ctx) {
		if err != nil {
			return nil, err
		}
		found = append(found, leftout.Entry{Path: vpath.Join(file.Route, file.Path), Err: file.Err})
	}
	return found, nil
}

// Spaces returns what is shown.
func (a *All) Spaces() Spaces { return a.from }

// Database returns the database, and false when it is something else.
func (a *All) Database() (Database, bool) {
	s, ok := a.from.(spaces)
	return s.db, ok
}

// Close closes the views that were opened, not the database.
func (a *All) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, view := range a.views {
		errs = append(errs, view.Close())
	}
	a.views = map[string]Space{}
	return errors.Join(errs...)
}
