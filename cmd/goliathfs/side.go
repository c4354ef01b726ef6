package main

import (
	"context"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
)

// side is one of the two things that copy and diff work on: a store, a folder of
// this machine, or only a backend that stands for one.
type side struct {
	vfs.Backend
	store *storeurl.Store // nil unless it is one
	dir   *hostdir.Dir    // nil unless it is one
}

// openSide opens a store or a host folder, which may hold the other side.
func openSide(ctx context.Context, opener *storeurl.Opener, spec, other storeurl.Spec, want storeurl.Want) (side, error) {
	if spec.URL.Scheme == storeurl.Dir && len(spec.Routes) == 0 {
		dir, err := opener.OpenDir(spec.URL, want, other)
		return side{Backend: dir, dir: dir}, err
	}
	store, err := opener.Open(ctx, spec, want)
	if err != nil {
		return side{}, err
	}
	return side{Backend: store.Backend, store: store}, nil
}

// leftOut returns what the side has and does not list. What seeds had to leave
// out is known to the Opener.
func (s side) leftOut(ctx context.Context) ([]leftout.Entry, error) {
	switch {
	case s.store != nil:
		return s.store.Hidden(ctx)
	case s.dir == nil:
		return nil, nil
	}
	return s.dir.LeftOut(ctx)
}

// problemsOf returns what the sides, and the seeds they were opened from, had to
// leave out.
func problemsOf(ctx context.Context, opener *storeurl.Opener, sides ...side) ([]leftout.Entry, error) {
	problems := opener.LeftOut()
	for _, s := range sides {
		found, err := s.leftOut(ctx)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}
