//go:build linux

package view

import (
	"context"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Places returns how many places are known.
func (r *Routes) Places() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.places)
}

// SetPatience sets how long names are waited for that are being dropped.
func SetPatience(v *View, d time.Duration) { v.Notify.patience = d }

// Keep keeps a file that was read ahead.
func Keep(v *View, f vfs.File) { v.contents.put(f) }

// Ask asks for a file as an opening does, and reports whether the store was asked.
func Ask(ctx context.Context, v *View, info vfs.Info) (asked bool, err error) {
	_, asked, err = v.contents.ask(ctx, info.Path, info.Revision)
	return asked, err
}
