package watch

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Still implements vfs.Watcher for a store that never changes: it makes the first call,
// which says "look at everything", and waits for ctx to end.
func Still(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fn(vfs.Event{Path: dir, Overflow: true})
	<-ctx.Done()
	return ctx.Err()
}
