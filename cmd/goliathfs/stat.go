package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newStat() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stat STORE PATH…",
		Short:   "Show revision, size, time and route of files",
		Example: "  goliathfs stat badger:./store /docs/guide.md\n  goliathfs stat --json badger:./store /docs/guide.md | jq -r .revision",
		GroupID: groupLook,
		Args:    takes(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				out := newOutput(cmd)
				defer out.Flush()
				begun := false
				err := eachPath(cmd, s, args[1:], func(path string) error {
					st, err := statOf(cmd.Context(), s, path)
					if err != nil {
						return err
					}
					if asJSON {
						return out.JSON(st)
					}
					if begun {
						out.Printf("\n")
					}
					begun = true
					st.print(out)
					return out.Err()
				})
				if flushErr := out.Flush(); err == nil {
					err = flushErr
				}
				return err
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// stated is what stat prints as JSON.
type stated struct {
	listed
	Route    string `json:"route"`
	Writable bool   `json:"writable"`
}

func statOf(ctx context.Context, s *storeurl.Store, path string) (stated, error) {
	info, err := vfs.Stat(ctx, s.Backend, path)
	if err != nil {
		return stated{}, noFile(ctx, s, err)
	}
	if info.Size < 0 { // the store cannot tell without reading, so read
		f, err := vfs.Read(ctx, s.Backend, info.Path)
		if err != nil {
			return stated{}, err
		}
		f.Size = int64(len(f.Content))
		info = f.Info
	}
	st := stated{listed: listedOf(walk.Entry{Info: info})}
	route, err := vfs.RouteOf(ctx, s.Backend, info.Path)
	if err != nil {
		return stated{}, err
	}
	st.Route = route.Prefix
	st.Writable, err = s.Writable(ctx, info.Path)
	return st, err
}

func (st stated) print(out *output) {
	out.Printf("path      %s\n", st.Path)
	out.Printf("revision  %s\n", visible.Name(string(st.Revision)))
	out.Printf("size      %s\n", count(int(*st.Size), "byte", "bytes"))
	if st.ModTime == nil {
		out.Printf("modified  unknown\n")
	} else {
		out.Printf("modified  %s\n", timeText(time.Time(*st.ModTime)))
	}
	access := "read-only"
	if st.Writable {
		access = "writable"
	}
	out.Printf("route     %s (%s)\n", st.Route, access)
}

// noFile improves the error of a path that is a directory, as / always is.
func noFile(ctx context.Context, s *storeurl.Store, err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	if !isAt("/", pe.Path) {
		if !errors.Is(err, vfs.ErrNotFound) {
			return err
		}
		page, listErr := vfs.List(ctx, s.Backend, pe.Path, vfs.ListOptions{Limit: 1})
		if listErr != nil {
			return err
		}
		if len(page.Files) == 0 {
			if near := otherCase(ctx, s.Backend, pe.Path); near != "" {
				return fmt.Errorf("%s: no such file in %s, did you mean %s?", pe.Path, storeWords(s.Spec), near)
			}
			return err
		}
	}
	return &directoryError{pe.Path, storeWords(s.Spec)}
}

// directoryError says that a path is no file, but a directory.
type directoryError struct{ path, store string }

func (d *directoryError) Error() string {
	return fmt.Sprintf("%s: it is a directory, see goliathfs ls %s %s", d.path, d.store, shellWord(d.path))
}

// mostNear is how many entries of a directory are compared with a name.
const mostNear = 1000

// otherCase returns the file beside path whose name differs only in the case of
// letters, "" if there is none.
func otherCase(ctx context.Context, b vfs.Backend, path string) string {
	n := 0
	for entry, err := range walk.Dir(ctx, b, vpath.Dir(path)) {
		if n++; err != nil || n > mostNear {
			return ""
		}
		if !entry.Dir && strings.EqualFold(entry.Info.Path, path) {
			return entry.Info.Path
		}
	}
	return ""
}

// count writes a number with its noun: "1 file", "2 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
