package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// placeOptions are those of cp and mv.
type placeOptions struct {
	storeFlags
	remove    bool // mv
	recursive bool
	force     bool
	asJSON    bool
}

func newCp() *cobra.Command {
	var o placeOptions
	cmd := &cobra.Command{
		Use:   "cp STORE PATH [STORE] PATH",
		Short: "Copy a file to another path, or to another store",
		Long: `Copy the file at the first PATH to the second one, of the same store or of the second
STORE; a PATH that ends in / is a directory that gets a file of the same name, and a
second STORE without a PATH gets it at the same path. Prints the new path and its
revision. With -r it is every file at and below PATH.

Nothing is replaced, and a file that is in the way of one keeps all from being copied.
--force replaces, and names on standard error the revision that was there. The routes
of --route belong to the first STORE. A Badger or SQLite store that does not exist is
made. To make two stores alike there is copy.`,
		Example: "  goliathfs cp badger:./store /notes/today.md /notes/old/\n  goliathfs cp backup:monday.backup /notes/today.md unix:/tmp/agent.sock\n  goliathfs cp -r badger:./store /docs 'badger:./store?namespace=other' /docs",
		GroupID: groupWrite,
		Args:    takes(3, 4),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.registerAll(cmd)
	return cmd
}

func newMv() *cobra.Command {
	o := placeOptions{remove: true}
	cmd := &cobra.Command{
		Use:        "mv STORE PATH [STORE] PATH",
		SuggestFor: []string{"move", "rename"},
		Short:      "Move a file to another path, or to another store",
		Long: `Move the file at the first PATH to the second one, of the same store or of the second
STORE; a PATH that ends in / is a directory that gets a file of the same name, and a
second STORE without a PATH gets it at the same path. Prints the new path and its
revision. With -r it is every file at and below PATH, one after the other.

A file is removed from its old place when it is at the new one, and only if it is as it
was read: when someone changes it meanwhile, it stays. Nothing is replaced, and a file
that is in the way of one keeps all from being moved. --force replaces, and names on
standard error the revision that was there. The routes of --route belong to the first
STORE. A Badger or SQLite store that does not exist is made.`,
		Example: "  goliathfs mv badger:./store /notes/today.md /notes/2026-11-30.md\n  goliathfs mv -r unix:/tmp/agent.sock /drafts /archive/drafts\n  goliathfs mv badger:./store /todo.md sqlite:./agent-files.db /todo.md",
		GroupID: groupWrite,
		Args:    takes(3, 4),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.registerAll(cmd)
	return cmd
}

func (o *placeOptions) registerAll(cmd *cobra.Command) {
	o.register(cmd)
	cmd.Flags().BoolVarP(&o.recursive, "recursive", "r", false, "take every file at and below PATH")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace what is at the new path")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object a file")
}

// places are the arguments of cp and mv.
type places struct {
	src, dst storeurl.Spec
	alone    bool // src and dst are one store, opened once
	from, to string
}

func (o *placeOptions) places(args []string) (p places, err error) {
	if p.src, err = o.spec(args[0]); err != nil {
		return p, err
	}
	p.from, p.dst = args[1], p.src
	rest, to := args[2:], ""
	if strings.HasPrefix(rest[0], "/") {
		p.alone = true
		if len(rest) > 1 {
			return p, usagef("%q is no store, write the second STORE before the path, or leave out %q", rest[0], rest[1])
		}
		to = rest[0]
	} else {
		if p.dst, err = new(storeFlags).spec(rest[0]); err != nil {
			return p, err
		}
		if len(rest) > 1 {
			to = rest[1]
		}
	}
	p.alone = p.alone || p.src.Same(p.dst)
	if p.from, err = vpath.Clean(p.from); err != nil {
		return p, usagef("%s: %w", args[1], err)
	}
	if p.from == "/" && !o.recursive {
		return p, usagef("/ is the whole store, pass -r for every file of it, or use goliathfs copy")
	}
	if p.to, err = vpath.Clean(cmp.Or(to, p.from)); err != nil {
		return p, usagef("%s: %w", to, err)
	}
	if strings.HasSuffix(to, "/") && p.from != "/" {
		p.to = vpath.Join(p.to, "/"+vpath.Base(p.from))
	}
	switch {
	case p.alone && p.from == p.to:
		return p, usagef("%s is there already, name another path", p.from)
	case p.alone && o.recursive && vpath.Within(p.to, p.from):
		return p, usagef("%s lies in %s, name another path", p.to, p.from)
	}
	return p, nil
}

func (o *placeOptions) run(cmd *cobra.Command, args []string) error {
	p, err := o.places(args)
	if err != nil {
		return err
	}
	if p.dst.URL.Scheme == storeurl.Dir || p.src.URL.Scheme == storeurl.Dir {
		return usagef("a folder of this machine is for copy, write for example goliathfs %s", o.besideFolder(p))
	}
	if !p.dst.URL.ReadOnly && !p.dst.Writable(p.to) { // opening says more of mode=ro
		return fmt.Errorf("%s: this part of %s is read-only, name a place that can be written", p.to, storeWords(p.dst))
	}
	if o.remove && !p.src.URL.ReadOnly && !p.src.Writable(p.from) {
		return fmt.Errorf("%s: this part of %s is read-only, so nothing can be moved away: copy it with goliathfs cp", p.from, storeWords(p.src))
	}
	return withOpener(func(opener *storeurl.Opener) error {
		src, dst, err := o.open(cmd.Context(), opener, p)
		if err != nil {
			return err
		}
		for _, note := range opener.Notes() {
			fmt.Fprintln(cmd.ErrOrStderr(), note)
		}
		if err := tellNamespaces(cmd, src); err != nil {
			return err
		}
		moves, err := o.moves(cmd.Context(), src, p)
		if err != nil {
			return explain(err, storeWords(p.src))
		}
		return o.make(cmd, src, dst, moves)
	})
}

// besideFolder is what does with a folder of this machine what was meant.
func (o *placeOptions) besideFolder(p places) string {
	switch {
	case o.recursive:
		return fmt.Sprintf("copy --include %s %s %s", shellWord(p.from), storeWords(p.src), storeWords(p.dst))
	case p.src.URL.Scheme == storeurl.Dir:
		return fmt.Sprintf("write %s %s < FILE", storeWords(p.dst), shellWord(p.to))
	}
	return fmt.Sprintf("cat %s %s > FILE", storeWords(p.src), shellWord(p.from))
}

// open opens the one to write to first, for both may lie in one database.
func (o *placeOptions) open(ctx context.Context, opener *storeurl.Opener, p places) (src, dst *storeurl.Store, err error) {
	want := storeurl.Want{Write: true, Create: !p.alone, Lazy: !p.alone}
	if dst, err = opener.Open(ctx, p.dst, want); err != nil {
		return nil, nil, err
	}
	if p.alone {
		return dst, dst, nil
	}
	look := storeurl.Want{Write: o.remove, Long: p.src.Shares(p.dst, storeurl.SQLite)}
	src, err = opener.Open(ctx, p.src, look)
	return src, dst, err
}

// moves returns the file, or with -r all at and below the path, in order.
func (o *placeOptions) moves(ctx context.Context, src *storeurl.Store, p places) ([]move, error) {
	if !o.recursive {
		if _, err := vfs.Stat(ctx, src.Backend, p.from); err != nil {
			err = noFile(ctx, src, err)
			if isDirectory(err) {
				return nil, fmt.Errorf("%s: it is a directory, pass -r for every file below it", p.from)
			}
			return nil, err
		}
		return []move{{p.from, p.to}}, nil
	}
	var moves []move
	for info, err := range walk.Files(ctx, src.Backend, p.from) {
		if err != nil {
			return nil, err
		}
		moves = append(moves, move{info.Path, vpath.Join(p.to, vpath.Rel(info.Path, p.from))})
	}
	if len(moves) == 0 {
		return nil, nothingAt(p.from, src)
	}
	return moves, nil
}

func (o *placeOptions) make(cmd *cobra.Command, src, dst *storeurl.Store, moves []move) error {
	ctx := cmd.Context()
	p := placer{cmd: cmd, src: src, dst: dst, force: o.force}
	plan, err := p.plan(ctx, moves)
	if err != nil {
		return explain(err, storeWords(dst.Spec))
	}
	out := newOutput(cmd)
	defer out.Flush()
	for i, m := range plan {
		made, err := p.put(ctx, m)
		if err == nil && o.remove {
			err = o.removeOld(ctx, src, dst, made)
		}
		if err != nil {
			if errors.Is(err, context.Canceled) {
				err = &interruptedError{"interrupted"}
			}
			if i > 0 {
				err = fmt.Errorf("%w; %s of %d done", err, count(i, "file is", "files are"), len(plan))
			}
			return err
		}
		if o.asJSON {
			out.JSON(made)
		} else {
			out.Printf("%s %s\n", made.Path, made.Revision)
		}
		if err := out.Err(); err != nil {
			return err
		}
	}
	if len(plan) > 0 {
		tellGone(cmd, dst.Spec, plan[0].to)
	}
	return out.Flush()
}

// removeOld removes a file that is at its new place from its old one, if it is as it
// was read. It does not stop half-way at an interruption.
func (o *placeOptions) removeOld(ctx context.Context, src, dst *storeurl.Store, made placing) error {
	ctx = context.WithoutCancel(ctx)
	err := vfs.Remove(ctx, src.Backend, made.From, made.source)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, vfs.ErrConflict) && !errors.Is(err, vfs.ErrNotFound):
		return fmt.Errorf("%s: it is at %s now, but cannot be removed here: %w", made.From, made.Path, reason.Of(err))
	case made.Replaced == "" && vfs.Remove(ctx, dst.Backend, made.Path, made.Revision) == nil:
		return fmt.Errorf("%s: someone changed it meanwhile, so it was not moved, try again", made.From)
	}
	return fmt.Errorf("%s: someone changed it meanwhile, so it was left there; what it was is at %s now", made.From, made.Path)
}

// isDirectory reports whether noFile has said so.
func isDirectory(err error) bool {
	_, ok := errors.AsType[*directoryError](err)
	return ok
}
