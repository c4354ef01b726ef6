package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Change does to the files of a conversation what someone else would: in the
// stores themselves, also in those that tools may only read, and whatever
// revision is there. It returns a line for each file, for the transcript.
func (w *World) Change(ctx context.Context, conversation string, c scenario.Change) ([]string, error) {
	var lines []string
	for _, path := range slices.SortedFunc(maps.Keys(c.Write), vpath.Compare) {
		f := c.Write[path]
		content := *f.Text
		if err := w.write(ctx, conversation, path, content); err != nil {
			return lines, f.Pos.At(fmt.Errorf("change.write: %s: %w", path, bare(err)))
		}
		shown := golden.Inline(content)
		if len(shown) > maxInline {
			shown = fmt.Sprintf("%d bytes", len(content))
		}
		lines = append(lines, fmt.Sprintf("write %s: %s", golden.Inline(path), shown))
	}
	for _, path := range c.Remove {
		b, inside, err := w.storeOf(ctx, conversation, path)
		if err == nil {
			err = remove(ctx, b, inside)
		}
		if err != nil {
			return lines, c.Pos.At(fmt.Errorf("change.remove: %s: %w", path, bare(err)))
		}
		lines = append(lines, "remove "+golden.Inline(path))
	}
	return lines, nil
}

// maxInline is the greatest content, in bytes, that a line on a change repeats.
const maxInline = 200

// bare is the error without the path that it has inside its store.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (w *World) write(ctx context.Context, conversation, path, content string) error {
	b, inside, err := w.storeOf(ctx, conversation, path)
	if err != nil {
		return err
	}
	info, err := vfs.Stat(ctx, b, inside)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		return err
	}
	_, err = vfs.Write(ctx, b, inside, content, info.Revision)
	return err
}

func remove(ctx context.Context, b vfs.Backend, path string) error {
	info, err := vfs.Stat(ctx, b, path)
	if err != nil {
		return err
	}
	return vfs.Remove(ctx, b, path, info.Revision)
}

// storeOf returns the store that holds a path, and the path inside it.
func (w *World) storeOf(ctx context.Context, conversation, path string) (vfs.Backend, string, error) {
	clean, err := vpath.CleanFile(path)
	if err != nil {
		return nil, "", err
	}
	p := w.stores.storeFor(clean)
	inst, err := w.stores.open(ctx, p, conversation)
	if err != nil {
		return nil, "", err
	}
	return inst.sound(), vpath.Rel(clean, p.prefix), nil
}

// Latest returns the revision that a file of a conversation has now.
func (w *World) Latest(ctx context.Context, conversation, path string) (vfs.Revision, error) {
	view, err := w.View(ctx, conversation)
	if err != nil {
		return "", err
	}
	info, err := vfs.Stat(ctx, view, path)
	return info.Revision, err
}
