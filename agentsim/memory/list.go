package memory

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// Entry is one remembered conversation, for looking at memories from outside.
type Entry struct {
	// ID names the conversation. It is "" for the default one, and for one whose
	// long name is only in a file that is damaged.
	ID        string
	IsDefault bool
	Path      string // of the file that holds it
	Loaded
}

// List returns the conversations that Files keeps in dir of a backend, "" for
// DefaultDir, in order of their files' names. Other files there are left out.
func List(ctx context.Context, b vfs.Backend, dir string) ([]Entry, error) {
	dir, err := checkDir(dir)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for child, err := range walk.Dir(ctx, b, dir) {
		if err != nil {
			return nil, fmt.Errorf("the memories cannot be listed: %w", err)
		}
		id, isDefault, ok := parseName(child.Name)
		if child.Dir || !ok {
			continue
		}
		m := &file{b, id, isDefault, vpath.Join(dir, "/"+child.Name)}
		e, err := m.entry(ctx)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Show returns one conversation that Files keeps in dir of a backend, "" for
// DefaultDir; an id of "" is the default one. Errors: one that matches
// vfs.ErrNotFound when nothing is remembered of it.
func Show(ctx context.Context, b vfs.Backend, dir, id string) (Entry, error) {
	dir, err := checkDir(dir)
	if err == nil {
		err = checkKey(id, id == "")
	}
	if err != nil {
		return Entry{}, err
	}
	m := &file{b, id, id == "", vpath.Join(dir, "/"+fileName(id, id == ""))}
	e, err := m.entry(ctx)
	if err == nil && e.Version == "" {
		which := "the conversation without an ID"
		if id != "" {
			which = fmt.Sprintf("the conversation %q", id)
		}
		err = fmt.Errorf("nothing is remembered of %s at %s: %w", which, m.path, vfs.ErrNotFound)
	}
	return e, err
}

func (m *file) entry(ctx context.Context) (Entry, error) {
	l, _, s, err := m.load(ctx)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{ID: m.id, IsDefault: m.isDefault, Path: m.path, Loaded: l}
	if !e.IsDefault && e.ID == "" && s.conversation != nil {
		e.ID = *s.conversation
	}
	return e, nil
}
