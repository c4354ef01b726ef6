package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// StoreSpec is what a replay asks of a NewStore; see agentsim.StoreSpec.
type StoreSpec struct {
	Namespace   string
	NewRevision revision.Func
	Now         func() time.Time
}

// NewStore opens an empty store that can be written; see agentsim.NewStore.
type NewStore func(ctx context.Context, spec StoreSpec) (vfs.Backend, error)

// stores are the files of one replay.
type stores struct {
	sc       *scenario.Scenario
	newStore NewStore // nil for memory
	base     map[string]string
	clock    *Clock
	specs    []routedStore // longest prefix first, the default last

	opened map[storeKey]*instance
	views  map[string]vfs.Backend // by conversation
}

// routedStore is a store of the scenario with its prefix and seeds.
type routedStore struct {
	prefix string // "/" for the default
	spec   scenario.Store
	seeds  map[string]string // by path inside the store
}

type storeKey struct {
	prefix       string
	conversation string // "" also for a store that all share
}

// instance is an opened store.
type instance struct {
	b     vfs.Backend
	fault *faultFS // set for a failing store
	clean bool     // its files are to be removed at the end
}

func newStores(sc *scenario.Scenario, newStore NewStore, base map[string]string, c *Clock) (*stores, error) {
	s := &stores{sc: sc, newStore: newStore, base: base, clock: c, opened: map[storeKey]*instance{}, views: map[string]vfs.Backend{}}
	def := scenario.Store{}
	if d := sc.Stores.Default; d != nil {
		def = *d
	}
	seen := map[string]bool{}
	for _, prefix := range slices.Sorted(maps.Keys(sc.Stores.Routes)) {
		route := sc.Stores.Routes[prefix]
		clean, err := vpath.CleanFile(prefix)
		if err != nil {
			return nil, route.Pos.Errorf("the route %q is refused: %v", prefix, err)
		}
		if seen[clean] {
			return nil, route.Pos.Errorf("the route %s is given twice, keep one", clean)
		}
		seen[clean] = true
		s.specs = append(s.specs, routedStore{clean, route, map[string]string{}})
	}
	slices.SortFunc(s.specs, func(a, b routedStore) int { return len(b.prefix) - len(a.prefix) })
	s.specs = append(s.specs, routedStore{"/", def, map[string]string{}})
	for _, path := range slices.Sorted(maps.Keys(sc.Seeds)) { // so that the same error comes each time
		p := s.storeFor(path)
		if path == p.prefix {
			return nil, p.spec.Pos.Errorf("the seed %s is exactly at a route, where no file can be", path)
		}
		p.seeds[vpath.Rel(path, p.prefix)] = sc.Seeds[path]
	}
	return s, nil
}

// storeFor returns the store that a path belongs to.
func (s *stores) storeFor(path string) routedStore {
	return s.specs[slices.IndexFunc(s.specs, func(p routedStore) bool { return vpath.Within(path, p.prefix) })]
}

// view returns what a conversation sees.
func (s *stores) view(ctx context.Context, conversation string) (vfs.Backend, error) {
	if b, ok := s.views[conversation]; ok {
		return b, nil
	}
	var def vfs.Backend
	var routes []routefs.Route
	for _, p := range s.specs {
		inst, err := s.open(ctx, p, conversation)
		if err != nil {
			return nil, err
		}
		b := inst.b
		if p.spec.ReadOnly {
			b = wrap.ReadOnly(b)
		}
		if p.prefix == "/" {
			def = b
			continue
		}
		routes = append(routes, routefs.Route{Prefix: p.prefix, Backend: b, ReadOnly: p.spec.ReadOnly})
	}
	b := def
	if len(routes) > 0 {
		var err error
		if b, err = routefs.New(def, routes, nil); err != nil {
			return nil, err
		}
	}
	s.views[conversation] = b
	return b, nil
}

// open returns a store, which a conversation may have for itself.
func (s *stores) open(ctx context.Context, p routedStore, conversation string) (*instance, error) {
	key := storeKey{prefix: p.prefix}
	if p.spec.PerConversation {
		key.conversation = conversation
	}
	if inst, ok := s.opened[key]; ok {
		return inst, nil
	}
	inst, err := s.create(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("the store at %s cannot be opened: %w", p.prefix, err)
	}
	if p.spec.Store == scenario.StoreFailing {
		inst.fault = &faultFS{b: inst.b, err: faultOf(p.spec.Error)}
		inst.b = inst.fault
	}
	s.opened[key] = inst
	return inst, nil
}

func (s *stores) create(ctx context.Context, p routedStore) (*instance, error) {
	switch {
	case p.spec.Store == scenario.StoreStatic:
		b, err := staticfs.New(p.seeds)
		return &instance{b: b}, err
	case s.newStore == nil:
		files := p.seeds
		if p.prefix == "/" && len(s.base) > 0 {
			files = maps.Clone(s.base)
			maps.Copy(files, p.seeds)
		}
		b, err := memfs.New(files, &memfs.Options{NewRevision: s.clock.newRevision, Now: s.clock.Now})
		return &instance{b: b}, err
	}
	// A step may call with a context that has ended, and finds its store all the
	// same, as it would have from the start.
	ctx = context.WithoutCancel(ctx)
	b, err := s.newStore(ctx, StoreSpec{
		Namespace:   "replay-" + rand.Text(),
		NewRevision: s.clock.newRevision,
		Now:         s.clock.Now,
	})
	if err != nil {
		return nil, err
	}
	inst := &instance{b: b}
	page, err := vfs.List(ctx, b, "/", vfs.ListOptions{Limit: 1})
	if err == nil && len(page.Files) > 0 {
		err = fmt.Errorf("it must be empty but holds %s, give the replay a fresh one", page.Files[0].Path)
	}
	if err == nil {
		inst.clean = true
		err = s.plant(ctx, b, p.seeds)
	}
	if err != nil {
		return nil, errors.Join(err, inst.close(ctx))
	}
	return inst, nil
}

// plant writes seeds with the revisions that they have in memory, so that a
// replay does not depend on the store.
func (s *stores) plant(ctx context.Context, b vfs.Backend, seeds map[string]string) error {
	defer s.clock.forceRevision("")
	for _, path := range slices.SortedFunc(maps.Keys(seeds), vpath.Compare) {
		s.clock.forceRevision(revision.OfSeed(path, seeds[path]))
		if _, err := vfs.Write(ctx, b, path, seeds[path], ""); err != nil {
			return err
		}
	}
	return nil
}

// close removes what the replay made and closes the stores.
func (s *stores) close(ctx context.Context) error {
	var errs []error
	for _, inst := range s.opened {
		errs = append(errs, inst.close(ctx))
	}
	return errors.Join(errs...)
}

// sound is the store without the fault that a scenario gives it.
func (inst *instance) sound() vfs.Backend {
	if inst.fault != nil {
		return inst.fault.b
	}
	return inst.b
}

func (inst *instance) close(ctx context.Context) error {
	b := inst.sound()
	var errs []error
	if inst.clean {
		for info, err := range walk.Files(ctx, b, "/") {
			if err == nil {
				err = vfs.Remove(ctx, b, info.Path, info.Revision)
			}
			errs = append(errs, err)
		}
	}
	if c, ok := b.(io.Closer); ok {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
