package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

// move is a file on its way from a path of one store to a path of another.
type move struct{ from, to string }

// placer puts files of a store at paths of another one, or of the same.
type placer struct {
	cmd      *cobra.Command
	src      *storeurl.Store
	dst      *storeurl.Store
	force    bool // replace what is in the way
	keepSame bool // what has the text already is left alone, and is in no one's way

	placed int // files
}

// plan returns the moves that are to be made. When a file is in the way of one, and
// is not to be replaced, it says so of each, and none can be made.
func (p *placer) plan(ctx context.Context, moves []move) ([]move, error) {
	var plan []move
	var inTheWay []vfs.Info
	for _, m := range moves {
		there, err := vfs.Stat(ctx, p.dst.Backend, m.to)
		switch {
		case errors.Is(err, vfs.ErrNotFound):
			plan = append(plan, m)
			continue
		case err != nil:
			return nil, err
		}
		if p.keepSame {
			same, err := p.same(ctx, m)
			if err != nil {
				return nil, err
			}
			if same {
				continue
			}
		}
		plan = append(plan, m)
		if !p.force {
			inTheWay = append(inTheWay, there)
		}
	}
	switch n := len(inTheWay); n {
	case 0:
		return plan, nil
	case 1:
		return nil, fmt.Errorf("%s: it exists in %s at revision %s, so nothing was changed: pass --force to replace it", inTheWay[0].Path, storeWords(p.dst.Spec), inTheWay[0].Revision)
	default:
		for _, info := range inTheWay {
			fmt.Fprintf(p.cmd.ErrOrStderr(), "in the way: %s at revision %s\n", printable(info.Path), info.Revision)
		}
		return nil, fmt.Errorf("%d files exist in %s, so nothing was changed: pass --force to replace them", n, storeWords(p.dst.Spec))
	}
}

// same reports whether a file has its text already where it is to go.
func (p *placer) same(ctx context.Context, m move) (bool, error) {
	file, err := vfs.Read(ctx, p.src.Backend, m.from)
	if err != nil {
		return false, explain(err, storeWords(p.src.Spec))
	}
	there, err := vfs.Read(ctx, p.dst.Backend, m.to)
	if errors.Is(err, vfs.ErrNotText) || errors.Is(err, vfs.ErrTooLarge) {
		return false, nil
	}
	return err == nil && there.Content == file.Content, err
}

// placing is a move that was made.
type placing struct {
	From     string       `json:"from"`
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
	Replaced vfs.Revision `json:"replaced,omitempty"`

	source vfs.Revision // of the file that was read
}

// put makes one move, and says on standard error which revision it has replaced. Its
// errors are sentences.
func (p *placer) put(ctx context.Context, m move) (placing, error) {
	file, err := vfs.Read(ctx, p.src.Backend, m.from)
	if err != nil {
		return placing{}, explain(err, storeWords(p.src.Spec))
	}
	info, replaced, err := putFile(ctx, p.dst, m.to, file.Content, p.force)
	if err != nil {
		return placing{}, explain(err, storeWords(p.dst.Spec))
	}
	p.placed++
	tellReplaced(p.cmd, info.Path, replaced)
	return placing{From: file.Path, Path: info.Path, Revision: info.Revision, Replaced: replaced, source: file.Revision}, nil
}

// tellReplaced says on standard error which revision of a file was replaced, if one was.
func tellReplaced(cmd *cobra.Command, path string, replaced vfs.Revision) {
	if replaced != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "replaced revision %s of %s\n", replaced, printable(path))
	}
}

// tries is how often a file is looked at anew that someone writes at the same time.
const tries = 10

// putFile creates a file, or with force replaces whatever revision it is at, which it
// returns.
func putFile(ctx context.Context, s *storeurl.Store, path, content string, force bool) (vfs.Info, vfs.Revision, error) {
	for try := 1; ; try++ {
		expected := vfs.Revision("")
		if force {
			there, err := vfs.Stat(ctx, s.Backend, path)
			if err != nil && !errors.Is(err, vfs.ErrNotFound) {
				return vfs.Info{}, "", err
			}
			expected = there.Revision
		}
		info, err := vfs.Write(ctx, s.Backend, path, content, expected)
		switch {
		case err == nil:
			return info, expected, nil
		case !errors.Is(err, vfs.ErrConflict):
			return vfs.Info{}, "", err
		case !force:
			return vfs.Info{}, "", fmt.Errorf("%s: someone made it meanwhile, so it was not replaced", path)
		case try == tries:
			return vfs.Info{}, "", fmt.Errorf("%s: it changes too often to be replaced, try again", path)
		}
	}
}
