package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// Intent is what a verb will do with a store.
type Intent int

// The intents.
const (
	// Look never makes a store, so a mistyped name is an error and not a new
	// database.
	Look Intent = iota
	// Change needs a store that exists and can be written.
	Change
	// Create makes the store when there is none.
	Create
)

// Spec is a store with other stores at some of its directories.
type Spec struct {
	URL    URL
	Routes []Route
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	Backend vfs.Backend // with the routes in place
	Base    vfs.Backend // the store of Spec.URL alone
	Spec    Spec

	opened []io.Closer
}

// Open opens the store of a Spec and those of its routes. The caller closes the
// result. Errors are sentences that name the store.
func Open(ctx context.Context, spec Spec, intent Intent) (*Store, error) {
	s := &Store{Spec: spec}
	base, err := s.openOne(ctx, spec.URL, intent)
	if err != nil {
		return nil, err
	}
	s.Base, s.Backend = base, base
	return s, nil
}

func (s *Store) openOne(ctx context.Context, u URL, intent Intent) (vfs.Backend, error) {
	b, err := openBackend(ctx, u, intent)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	if c, ok := b.(io.Closer); ok {
		s.opened = append(s.opened, c)
	}
	return b, nil
}

// Close closes every store that Open opened, the last one first.
func (s *Store) Close() error {
	var errs []error
	for i := len(s.opened) - 1; i >= 0; i-- {
		errs = append(errs, s.opened[i].Close())
	}
	s.opened = nil
	return errors.Join(errs...)
}

func openBackend(_ context.Context, u URL, _ Intent) (vfs.Backend, error) {
	switch u.Scheme {
	case Mem:
		return memfs.New(nil, nil)
	case Dir:
		return nil, fmt.Errorf("a host folder is for copy and diff, write static:%s to look at it as a store", Escape(u.Target))
	}
	return nil, fmt.Errorf("%s: stores are not part of this program", u.Scheme)
}

// mustExist refuses a target that is not there, before anything could make it.
func mustExist(u URL) error {
	_, err := os.Stat(u.Target)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no such store, check the name or make it with goliathfs copy SOURCE %s", u)
	}
	return err
}
