package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

type lsOptions struct {
	storeFlags
	long, recursive, json bool
}

func newLs() *cobra.Command {
	var o lsOptions
	cmd := &cobra.Command{
		Use:        "ls STORE [PATH…]",
		SuggestFor: []string{"list", "dir"},
		Short:      "List files and directories",
		Long: `List the files and directories at each PATH (default /), one level deep, by
their full paths; a directory ends in "/". A file and a directory may share a
name: both are listed.`,
		Example: "  goliathfs ls badger:./store /docs\n  goliathfs ls -R --json static:./docs | jq -r .path",
		GroupID: groupLook,
		Args:    takes(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				return o.run(cmd, s, orRoot(args[1:]))
			})
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVarP(&o.long, "long", "l", false, "show size, time and revision")
	cmd.Flags().BoolVarP(&o.recursive, "recursive", "R", false, "list all files below, without directories")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line")
	return cmd
}

// orRoot is the default of verbs that take paths of directories.
func orRoot(paths []string) []string {
	if len(paths) == 0 {
		return []string{"/"}
	}
	return paths
}

func (o *lsOptions) run(cmd *cobra.Command, s *storeurl.Store, paths []string) error {
	out := newOutput(cmd)
	defer out.Flush()
	tell := tellUnlisted
	if o.recursive {
		tell = tellHidden
	}
	return eachPath(cmd, s, paths, func(path string) error {
		err := o.list(cmd, s, out, path, tell)
		if flushErr := out.Flush(); err == nil {
			err = flushErr // before the error of another path
		}
		return err
	})
}

// list prints what is at one path.
func (o *lsOptions) list(cmd *cobra.Command, s *storeurl.Store, out *output, path string, tell func(*cobra.Command, *storeurl.Store, string) error) error {
	if err := tell(cmd, s, path); err != nil {
		return err
	}
	n := 0
	for entry, err := range o.entries(cmd.Context(), s.Backend, path) {
		if err != nil {
			return err
		}
		n++
		if err := o.print(out, entry); err != nil {
			return err
		}
	}
	switch {
	case n > 0:
		return nil
	case !isAt("/", path):
		return nothingAt(path, s)
	}
	return tellEmpty(cmd, s, "there are no files to list in")
}

// nothingAt is the error of a path at and below which there is no file.
func nothingAt(path string, s *storeurl.Store) error {
	return fmt.Errorf("%s: there is nothing in %s, see goliathfs ls %[2]s", path, storeWords(s.Spec))
}

// entries yields the file at path, if there is one, and what lies below it: all
// files, or one level.
func (o *lsOptions) entries(ctx context.Context, b vfs.Backend, path string) func(func(walk.Entry, error) bool) {
	return func(yield func(walk.Entry, error) bool) {
		if o.recursive {
			for info, err := range walk.Files(ctx, b, path) {
				if !yield(walk.Entry{Info: info}, err) {
					return
				}
			}
			return
		}
		page, err := vfs.List(ctx, b, path, vfs.ListOptions{Limit: 1})
		if err != nil {
			yield(walk.Entry{}, err)
			return
		}
		if len(page.Files) == 1 && isAt(page.Files[0].Path, path) && !yield(walk.Entry{Info: page.Files[0]}, nil) {
			return
		}
		for entry, err := range walk.Dir(ctx, b, path) {
			if !yield(entry, err) {
				return
			}
		}
	}
}

// listed is what ls and stat print as JSON of a file or directory.
type listed struct {
	Path     string       `json:"path"`
	Dir      bool         `json:"dir,omitempty"`
	Revision vfs.Revision `json:"revision,omitempty"`
	Size     *int64       `json:"size,omitempty"` // absent when not known without reading
	ModTime  *jsonTime    `json:"modTime,omitempty"`
}

func listedOf(e walk.Entry) listed {
	l := listed{Path: e.Info.Path, Dir: e.Dir, Revision: e.Info.Revision}
	if e.Dir {
		return l
	}
	if e.Info.Size >= 0 {
		l.Size = &e.Info.Size
	}
	l.ModTime = timeOf(e.Info.ModTime)
	return l
}

func (o *lsOptions) print(out *output, e walk.Entry) error {
	name := e.Info.Path
	if e.Dir {
		name += "/"
	}
	switch {
	case o.json:
		return out.JSON(listedOf(e))
	case o.long && e.Dir:
		out.Printf("%10s  %-24s  %-12s  %s\n", "-", "-", "-", name)
	case o.long:
		out.Printf("%10s  %-24s  %-12s  %s\n", sizeText(e.Info.Size), timeText(e.Info.ModTime), visible.Name(string(e.Info.Revision)), name)
	default:
		out.Printf("%s\n", name)
	}
	return out.Err()
}

func sizeText(n int64) string {
	if n < 0 {
		return "?"
	}
	return fmt.Sprint(n)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
