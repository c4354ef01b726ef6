package glob

import (
	"context"
	"strings"

	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Walker looks at the names that a pattern may match, in order. Of a directory in
// which nothing can match it looks at one.
type Walker struct {
	p     *Pattern
	files *listing.Lister
}

// Walk returns a walker of the files of b at or below dir and after a path, "" for
// all. A page of a listing has at most most files.
func (p *Pattern) Walk(b vfs.Backend, dir, after string, most int) *Walker {
	if after == "" {
		after = vpath.Before(p.prefix)
	}
	return &Walker{p: p, files: listing.New(b, listing.All, dir, after, most)}
}

// Next returns the next file, and whether it matches; ok is false at the end.
func (w *Walker) Next(ctx context.Context) (info vfs.Info, match, ok bool, err error) {
	info, ok, err = w.files.Next(ctx)
	if err != nil || !ok {
		return vfs.Info{}, false, false, err
	}
	if !strings.HasPrefix(info.Path, w.p.prefix) && vpath.Compare(info.Path, w.p.prefix) > 0 {
		return vfs.Info{}, false, false, nil
	}
	match, dead := w.p.match(info.Path)
	if dead != "" {
		w.files.Skip(dead)
	}
	return info, match, true, nil
}

// More reports whether another file may follow.
func (w *Walker) More() bool { return w.files.More() }
