package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newStats() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats STORE [PATH]",
		Short:   "Count files and bytes, in all and per directory",
		Long:    "Count the files and bytes below PATH (default /), the largest files, each directory\nin PATH, the disk space that the whole store takes, and its index of searches.",
		Example: "  goliathfs stats badger:./store\n  goliathfs stats --json sqlite:./agent-files.db | jq .files",
		GroupID: groupCare,
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				dir := orRoot(args[1:])[0]
				st, err := statsOf(cmd.Context(), s, dir)
				if err == nil {
					err = tellHidden(cmd, s, dir)
				}
				if err != nil {
					return err
				}
				for _, p := range st.unread {
					fmt.Fprintf(cmd.ErrOrStderr(), "not measured: %v\n", p)
				}
				if st.noIndex != nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "no search index: %v\n", st.noIndex)
				}
				out := newOutput(cmd)
				if asJSON {
					out.JSON(st)
				} else {
					st.print(out)
				}
				return out.Flush()
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// stats is what the verb prints as JSON. Sizes are in bytes.
type stats struct {
	Files       int        `json:"files"`
	Bytes       int64      `json:"bytes"`
	Disk        *int64     `json:"disk,omitempty"` // of the whole store; absent for one on no disk
	Newest      *jsonTime  `json:"newest,omitempty"`
	Index       *indexed   `json:"index,omitempty"` // of searches; absent where none is kept
	Largest     []sized    `json:"largest"`
	Directories []dirStats `json:"directories"` // one level deep, in order of the paths

	noIndex error           // why the index that is kept cannot be used
	unread  []leftout.Entry // files that count and whose size cannot be told
}

// indexed tells of an index of searches.
type indexed struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Changed int   `json:"changed"` // files that it does not know as they are
}

type sized struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

type dirStats struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// keepLargest is how many of the largest files are named.
const keepLargest = 10

func statsOf(ctx context.Context, s *storeurl.Store, dir string) (stats, error) {
	st := stats{Largest: []sized{}, Directories: []dirStats{}}
	root, err := vpath.Clean(dir)
	if err != nil {
		return st, usagef("%s: %w", dir, err)
	}
	for info, err := range walk.Files(ctx, s.Backend, root) {
		if err != nil {
			return st, err
		}
		if info.Size < 0 { // the store cannot tell without reading, so read
			f, err := vfs.Read(ctx, s.Backend, info.Path)
			switch {
			case errors.Is(err, vfs.ErrNotFound): // removed meanwhile
				continue
			case errors.Is(err, vfs.ErrNotText), errors.Is(err, vfs.ErrTooLarge):
				st.unread = append(st.unread, leftout.Entry{Path: info.Path, Err: errors.New(transfer.Reason(err))})
			case err != nil:
				return st, err
			}
			info.Size = int64(len(f.Content))
		}
		st.add(info, root)
	}
	if st.Files == 0 && root != "/" {
		return st, nothingAt(dir, s)
	}
	disk, err := diskUse(ctx, s)
	if err == nil && disk >= 0 {
		st.Disk = &disk
	}
	if db, ok := s.Base.(database.Indexer); ok && err == nil { // of one namespace
		err = st.addIndex(ctx, db)
	}
	return st, err
}

// addIndex tells of the index that a database keeps, or why it cannot be used.
func (st *stats) addIndex(ctx context.Context, db database.Indexer) error {
	ix, err := db.IndexStatus(ctx)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		st.noIndex = err
	case ix.State == "ready":
		st.Index = &indexed{ix.Files, ix.Bytes, ix.Changed}
	}
	return nil
}

func (st *stats) add(info vfs.Info, root string) {
	st.Files++
	st.Bytes += info.Size
	if !info.ModTime.IsZero() && (st.Newest == nil || info.ModTime.After(time.Time(*st.Newest))) {
		st.Newest = timeOf(info.ModTime)
	}
	st.Largest = append(st.Largest, sized{info.Path, info.Size})
	slices.SortStableFunc(st.Largest, func(a, b sized) int { return cmp.Compare(b.Size, a.Size) })
	st.Largest = st.Largest[:min(len(st.Largest), keepLargest)]

	name, _, below := strings.Cut(strings.TrimPrefix(vpath.Rel(info.Path, root), "/"), "/")
	if !below {
		return
	}
	dir := vpath.Join(root, "/"+name)
	if n := len(st.Directories); n == 0 || st.Directories[n-1].Path != dir {
		st.Directories = append(st.Directories, dirStats{Path: dir})
	}
	last := &st.Directories[len(st.Directories)-1]
	last.Files++
	last.Bytes += info.Size
}

func (st *stats) print(out *output) {
	out.Printf("files   %d\nbytes   %d\n", st.Files, st.Bytes)
	if st.Disk != nil {
		out.Printf("disk    %d (the whole store)\n", *st.Disk)
	}
	if st.Newest != nil {
		out.Printf("newest  %s\n", timeText(time.Time(*st.Newest)))
	}
	if ix := st.Index; ix != nil {
		out.Printf("index   %d bytes, %d files, %d changed since\n", ix.Bytes, ix.Files, ix.Changed)
	}
	if len(st.Directories) > 0 {
		out.Printf("\n%9s  %12s  directory\n", "files", "bytes")
		for _, d := range st.Directories {
			out.Printf("%9d  %12d  %s/\n", d.Files, d.Bytes, d.Path)
		}
	}
	if len(st.Largest) > 0 {
		out.Printf("\n%12s  largest files\n", "bytes")
		for _, f := range st.Largest {
			out.Printf("%12d  %s\n", f.Size, f.Path)
		}
	}
}
