package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// DefaultDir is the directory of memories where none is chosen.
const DefaultDir = "/.memory"

// FilesOptions adjust memories that are files; nil or the zero value is the
// most careful choice.
type FilesOptions struct {
	// Dir is the directory that holds them; "" means DefaultDir.
	Dir string
	// AgentRoots are the roots of all agents whose tools use the same backend. A
	// Dir at or below one is refused, because a model would read, search and
	// perhaps edit the memories, also those of other conversations. Nil stands for
	// the root "/"; for a backend that no tool uses, give an empty list.
	AgentRoots []string
	// ShowToAgents permits that.
	ShowToAgents bool
}

// Files returns a Factory of memories that are files of a backend, one JSON
// file a conversation, indented so that a mount shows it to people and to jq.
// Saves check the file's revision: what another tool wrote meanwhile is a
// conflict, never overwritten. A damaged file is kept beside with ".damaged-"
// and eight hex digits of its hash after its name.
func Files(b vfs.Backend, opts *FilesOptions) (Factory, error) {
	if opts == nil {
		opts = &FilesOptions{}
	}
	dir, err := checkDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	roots := opts.AgentRoots
	if roots == nil {
		roots = []string{"/"}
	}
	for _, root := range roots {
		root, err := vpath.Clean(root)
		if err != nil {
			return nil, fmt.Errorf("the agent's root is refused: %w", err)
		}
		if vpath.Within(dir, root) && !opts.ShowToAgents {
			return nil, fmt.Errorf("the memories in %s would be inside the agent's root %s: name the agents' roots in AgentRoots, an empty list if no tool uses this store, or set ShowToAgents", dir, root)
		}
	}
	return func(_ context.Context, id string, isDefault bool) (Memory, error) {
		if err := checkKey(id, isDefault); err != nil {
			return nil, err
		}
		return &file{b, id, isDefault, vpath.Join(dir, "/"+fileName(id, isDefault))}, nil
	}, nil
}

func checkDir(dir string) (string, error) {
	if dir == "" {
		dir = DefaultDir
	}
	clean, err := vpath.Clean(dir)
	if err == nil {
		// The longest name that a memory and what is kept aside can have must fit.
		_, err = vpath.CleanFile(vpath.Join(clean, "/"+strings.Repeat("x", maxName+len(suffix)+len(damagedSuffix("")))))
	}
	if err != nil {
		return "", fmt.Errorf("the directory %q cannot hold memories: %w", dir, err)
	}
	return clean, nil
}

// file is the memory of one conversation.
type file struct {
	b         vfs.Backend
	id        string
	isDefault bool
	path      string
}

var _ Memory = (*file)(nil)

// Load implements Memory.
func (m *file) Load(ctx context.Context) (Loaded, error) {
	l, _, _, err := m.load(ctx)
	return l, err
}

// load also returns the file's content, and what it says.
func (m *file) load(ctx context.Context) (Loaded, string, document, error) {
	l := Loaded{State: State{}.Clone()}
	f, err := vfs.Read(ctx, m.b, m.path)
	switch {
	case errors.Is(err, vfs.ErrNotFound):
		return l, "", document{}, nil
	case errors.Is(err, vfs.ErrNotText):
		info, statErr := vfs.Stat(ctx, m.b, m.path)
		if statErr != nil {
			return Loaded{}, "", document{}, fmt.Errorf("the memory cannot be loaded: %w", statErr)
		}
		l.Version, l.Damaged = Version(info.Revision), errUnreadable
		return l, "", document{}, nil
	case err != nil:
		return Loaded{}, "", document{}, fmt.Errorf("the memory cannot be loaded: %w", err)
	}
	l.Version = Version(f.Revision)
	var s document
	if s, l.Damaged = decode(f.Content, true); l.Damaged == nil {
		l.State = s.State.Clone()
	}
	return l, f.Content, s, nil
}

var errUnreadable = errors.New("the stored memory is not valid UTF-8")

// Save implements Memory.
func (m *file) Save(ctx context.Context, s State, on Version) error {
	now, content, old, err := m.load(ctx)
	switch {
	case err != nil:
		return err
	case now.Version != on:
		return fmt.Errorf("the memory %s was not saved: %w", m.path, ErrConflict)
	case errors.Is(now.Damaged, errUnreadable):
		return fmt.Errorf("the damaged memory %s cannot be read to be kept aside, so it is not overwritten: move it away", m.path)
	case now.Damaged != nil:
		_, err := vfs.Write(ctx, m.b, m.path+damagedSuffix(content), content, "")
		if err != nil && !errors.Is(err, vfs.ErrConflict) { // a conflict: it is kept already
			return fmt.Errorf("the damaged memory %s cannot be kept aside, so it is not overwritten: %w", m.path, err)
		}
	}
	next := old.after(s)
	if next.conversation = nil; !m.isDefault {
		next.conversation = &m.id
	}
	text, err := next.encode(true)
	if err != nil {
		return err
	}
	_, err = vfs.Write(ctx, m.b, m.path, text, vfs.Revision(on))
	if errors.Is(err, vfs.ErrConflict) {
		err = ErrConflict
	}
	if err != nil {
		return fmt.Errorf("the memory %s was not saved: %w", m.path, err)
	}
	return nil
}
