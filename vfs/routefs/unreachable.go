package routefs

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// Unreachable is a file that a store of the composite holds and no path of the
// composite reaches.
type Unreachable struct {
	Route         string // the prefix of the store, "/" for the default
	leftout.Entry        // with the path inside the store
}

// Unreachable yields the files that lists leave out, store by store: hidden by
// a route, or with a visible path of more than 512 UTF-16 code units. It looks
// at every file of every store, so it is for checks, not for serving. It ends
// after the first error, which it yields.
func (f *FS) Unreachable(ctx context.Context) iter.Seq2[Unreachable, error] {
	return func(yield func(Unreachable, error) bool) {
		for _, src := range f.sources {
			for info, err := range walk.Files(ctx, src.in, "/") {
				if err != nil {
					yield(Unreachable{}, fmt.Errorf("below %s: %w", src.prefix, err))
					return
				}
				reason := src.obstacle(vpath.Join(src.prefix, info.Path))
				if reason != "" && !yield(Unreachable{src.prefix, leftout.Entry{Path: info.Path, Err: errors.New(reason)}}, nil) {
					return
				}
			}
		}
	}
}
