package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newTree() *cobra.Command {
	var flags storeFlags
	var depth int
	cmd := &cobra.Command{
		Use:     "tree STORE [PATH]",
		Short:   "Show files and directories as a tree",
		Example: "  goliathfs tree badger:./store /docs\n  goliathfs tree --depth 2 static:./docs",
		GroupID: groupLook,
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if depth < 0 {
				return usagef("--depth %d is below 0, 0 shows every level", depth)
			}
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				root := orRoot(args[1:])[0]
				if err := tellHidden(cmd, s, root); err != nil {
					return err
				}
				t := treePrinter{out: newOutput(cmd), backend: s.Backend, depth: depth}
				err := t.root(cmd.Context(), root)
				if err == nil && t.files == 0 && t.dirs == 0 && !isAt("/", root) {
					return nothingAt(root, s)
				}
				if flushErr := t.out.Flush(); err == nil {
					err = flushErr
				}
				return err
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().IntVar(&depth, "depth", 0, "show at most this many `levels`; 0 means all")
	return cmd
}

type treePrinter struct {
	out         *output
	backend     vfs.Backend
	depth       int // 0 means no limit
	dirs, files int
}

// root prints the tree of path. A file at path itself counts, too.
func (t *treePrinter) root(ctx context.Context, path string) error {
	page, err := vfs.List(ctx, t.backend, path, vfs.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Files) == 1 && isAt(page.Files[0].Path, path) {
		t.files++
	}
	t.out.Printf("%s\n", path)
	if err := t.dir(ctx, path, "", 1); err != nil {
		return err
	}
	t.out.Printf("\n%s, %s\n", count(t.dirs, "directory", "directories"), count(t.files, "file", "files"))
	return nil
}

// dir prints what lies in one directory, each line behind indent.
func (t *treePrinter) dir(ctx context.Context, path, indent string, level int) error {
	var pending *walk.Entry // printed once it is known whether another follows
	print := func(last bool) error {
		branch, below := "├── ", "│   "
		if last {
			branch, below = "└── ", "    "
		}
		if !pending.Dir {
			t.files++
			t.out.Printf("%s%s%s\n", indent, branch, pending.Name)
			return t.out.Err()
		}
		t.dirs++
		t.out.Printf("%s%s%s/\n", indent, branch, pending.Name)
		if level == t.depth {
			return t.out.Err()
		}
		return t.dir(ctx, pending.Info.Path, indent+below, level+1)
	}
	for entry, err := range walk.Dir(ctx, t.backend, path) {
		if err != nil {
			return err
		}
		if pending != nil {
			if err := print(false); err != nil {
				return err
			}
		}
		pending = &entry
	}
	if pending == nil {
		return t.out.Err()
	}
	return print(true)
}
