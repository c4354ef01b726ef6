package storeurl

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Hidden returns the files that the store holds and no list shows: those of
// Unlisted, and files whose path is too long below the prefix of a route. Without
// them a list passes for complete. With routes it walks through every file. What a
// running agent hides is not known here.
func (s *Store) Hidden(ctx context.Context) ([]leftout.Entry, error) {
	found, err := s.Unlisted(ctx, "/")
	if err != nil {
		return nil, err
	}
	for _, part := range s.Parts {
		all, ok := part.Backend.(*database.All)
		if !ok {
			continue
		}
		long, err := all.TooLong(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.URL, err)
		}
		for _, left := range long {
			found = append(found, leftout.Entry{Path: vpath.Join(part.Prefix, left.Path), Err: left.Err})
		}
	}
	composite, ok := s.Backend.(*routefs.FS)
	if !ok {
		return found, nil
	}
	for file, err := range composite.Unreachable(ctx) {
		if err != nil {
			return nil, err
		}
		if path := vpath.Join(file.Route, file.Path); vpath.Units(path) > vpath.MaxUnits {
			found = append(found, leftout.Entry{Path: path, Err: file.Err})
		}
	}
	return found, nil
}

// Unlisted returns what databases hold and do not list, such as rows of SQLite
// tables that break the rules, with visible paths at or below the canonical path dir.
func (s *Store) Unlisted(ctx context.Context, dir string) ([]leftout.Entry, error) {
	var found []leftout.Entry
	for _, part := range s.Parts {
		db, ok := part.Backend.(database.Unlister)
		inside := "/"
		switch {
		case !ok:
			continue
		case vpath.Within(dir, part.Prefix):
			inside = vpath.Rel(dir, part.Prefix)
		case !vpath.Within(part.Prefix, dir):
			continue
		}
		rows, err := db.Unlisted(ctx, inside)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.URL, err)
		}
		for _, row := range rows {
			path := vpath.Join(part.Prefix, row.Path)
			if vpath.CheckFile(path) == nil {
				route, err := vfs.RouteOf(ctx, s.Backend, path)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", part.URL, err)
				}
				if route.Prefix != part.Prefix {
					continue // a route has its place
				}
			}
			found = append(found, leftout.Entry{Path: path, Err: fmt.Errorf("%w, see goliathfs check %s", row.Err, part.URL)})
		}
	}
	return found, nil
}
