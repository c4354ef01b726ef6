package storeurl

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// writable is what databases can do that hold one agent's files.
type writable interface {
	vfs.Backend
	vfs.Statter
	vfs.Writer
	vfs.Remover
}

// unborn is a database that is made when the first file is written to it, so that
// one that is refused leaves none behind. It is safe for concurrent use.
type unborn struct {
	open   func(context.Context) (vfs.Backend, error)
	making *sync.Mutex // one for all stores of an Opener

	mu   sync.RWMutex
	made writable // nil until then
}

// first returns the database of u, or an unborn one when there is none.
func (o *Opener) first(ctx context.Context, u URL) (vfs.Backend, error) {
	if f, _ := u.kind(); f.server {
		db, err := o.database(ctx, u, Want{Write: true})
		if !errors.Is(err, database.ErrEmpty) {
			return db, err
		}
	} else if _, err := os.Stat(u.Target); !errors.Is(err, fs.ErrNotExist) || u.ReadOnly {
		return o.database(ctx, u, Want{Write: true, Create: true})
	}
	return &unborn{
		open:   func(ctx context.Context) (vfs.Backend, error) { return o.one(ctx, u, Want{Write: true, Create: true}) },
		making: &o.making,
	}, nil
}

// now returns the database, or an empty store in its place.
func (b *unborn) now() (writable, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.made != nil {
		return b.made, nil
	}
	return memfs.New(nil, nil)
}

// born returns the database, which it makes when there is none.
func (b *unborn) born(ctx context.Context) (writable, error) {
	b.making.Lock()
	defer b.making.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made != nil {
		return b.made, nil
	}
	opened, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	made, ok := opened.(writable)
	if !ok {
		return nil, vfs.ErrReadOnly
	}
	b.made = made
	return made, nil
}

// Read implements vfs.Backend.
func (b *unborn) Read(ctx context.Context, path string) (vfs.File, error) {
	s, err := b.now()
	if err != nil {
		return vfs.File{}, err
	}
	return s.Read(ctx, path)
}

// List implements vfs.Backend.
func (b *unborn) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	s, err := b.now()
	if err != nil {
		return vfs.Page{}, err
	}
	return s.List(ctx, dir, opts)
}

// Stat implements vfs.Statter.
func (b *unborn) Stat(ctx context.Context, path string) (vfs.Info, error) {
	s, err := b.now()
	if err != nil {
		return vfs.Info{}, err
	}
	return s.Stat(ctx, path)
}

// Write implements vfs.Writer. What an empty store refuses makes no database.
func (b *unborn) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	s, err := b.now()
	if err != nil {
		return vfs.Info{}, err
	}
	info, err := s.Write(ctx, path, content, expected)
	if _, empty := s.(*memfs.FS); !empty || err != nil {
		return info, err
	}
	if s, err = b.born(ctx); err != nil {
		return vfs.Info{}, err
	}
	return s.Write(ctx, path, content, expected)
}

// Remove implements vfs.Remover.
func (b *unborn) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	s, err := b.now()
	if err != nil {
		return err
	}
	return s.Remove(ctx, path, expected)
}
