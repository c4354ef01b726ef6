package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/internal/newname"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newBackup() *cobra.Command {
	flags := storeFlags{whole: true}
	cmd := &cobra.Command{
		Use:   "backup STORE FILE",
		Short: "Write a store to one file, as it is at one moment",
		Long: `Write the whole store to the new file FILE, as it was at one moment, also while it
is in use; a Badger store that a process has open is reached through that one.
SQLite gives a database, with all its tables; every other store a file of JSON lines
that ends in a checksum, with all namespaces unless the URL names one. With --route
it is the files that show. restore reads both forms, and backup:FILE is a store to
look at them. FILE can be - for standard output.`,
		Example: "  goliathfs backup badger:./store store.backup\n  goliathfs backup sqlite:./agent-files.db copy.db\n  goliathfs backup unix:/tmp/agent.sock - | gzip > store.backup.gz",
		GroupID: groupCare,
		Args:    takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] == "-" {
				return backupToOutput(cmd, &flags, args[0])
			}
			if _, err := os.Lstat(args[1]); err == nil {
				return fmt.Errorf("%s exists already and is not replaced, name another file", args[1])
			}
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				if db, ok := s.Base.(database.Copier); ok && len(s.Spec.Routes) == 0 {
					if err := db.Backup(cmd.Context(), args[1]); err != nil {
						return err
					}
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote the database to %s\n", args[1])
					return err
				}
				b := backup{store: s, errout: cmd.ErrOrStderr()}
				if err := newFile(args[1], func(f *os.File) error { return b.write(cmd.Context(), f) }); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %s to %s\n", count(b.files, "file", "files"), args[1]); err != nil {
					return err
				}
				if b.damaged > 0 {
					return errReported
				}
				return nil
			})
		},
	}
	flags.register(cmd)
	return cmd
}

// newFile makes a file that appears under its name when write has filled it and
// it is on the disk, and never replaces one. The command makes one at a time.
func newFile(name string, write func(*os.File) error) (err error) {
	tempname.Sweep(filepath.Dir(name))
	fresh := filepath.Join(filepath.Dir(name), new(tempname.Maker).Next())
	f, err := os.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write %s: its folder is missing, make it first", name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s, name another file: %w", name, reason.Of(err))
	}
	defer os.Remove(fresh)
	err = errors.Join(write(f), f.Sync(), f.Close())
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe) && pe.Path == fresh && errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("cannot write %s: %w, make room and run it again", name, pe.Err)
	case errors.As(err, &pe) && pe.Path == fresh: // a name that no one knows
		return fmt.Errorf("cannot write %s: %w", name, pe.Err)
	case err != nil:
		return err
	}
	err = newname.Give(fresh, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already and is not replaced, name another file", name)
	case errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("cannot write %s, name a file on another disk: %w", name, err)
	case err != nil:
		return fmt.Errorf("cannot write %s: %w", name, reason.Of(err))
	}
	return nil
}

// backup writes one store.
type backup struct {
	store          *storeurl.Store
	errout         io.Writer
	files, damaged int
}

func (b *backup) write(ctx context.Context, f *os.File) error {
	if db, ok := b.atOneMoment(); ok {
		for n := 1; ; n++ {
			err := b.snapshots(ctx, db, f)
			if n == attempts || !errors.Is(err, database.ErrSnapshotLost) {
				return err
			}
			if err := empty(f); err != nil {
				return err
			}
		}
	}
	if from, ok := b.store.Base.(*backupfile.Files); ok && len(b.store.Spec.Routes) == 0 && from.Store().HasNamespaces() {
		return b.again(ctx, from.Store(), f)
	}
	return b.settled(ctx, f)
}

// again writes what another backup holds, which does not change meanwhile.
func (b *backup) again(ctx context.Context, from *backupfile.Store, f io.Writer) error {
	w, err := b.begin(f)
	if err != nil {
		return err
	}
	names, err := b.namespaces(ctx, from)
	if err != nil {
		return err
	}
	for _, name := range names {
		files := from.Files(name)
		left, err := files.Unlisted(ctx, "/")
		if err != nil {
			return err
		}
		b.leaveOut(left)
		for info, err := range walk.Files(ctx, files, "/") {
			if err != nil {
				return err
			}
			file, err := files.Read(ctx, info.Path)
			if err != nil {
				return &fs.PathError{Op: "read", Path: info.Path, Err: err}
			}
			b.files++
			if err := w.Add(backupfile.Record{Namespace: name, File: file}); err != nil {
				return err
			}
		}
	}
	return w.Finish()
}

// namespaces returns the one that the URL names, or else all.
func (b *backup) namespaces(ctx context.Context, from interface {
	Namespaces(context.Context) ([]string, error)
}) ([]string, error) {
	if name := b.store.Spec.URL.Namespace; name != "" {
		return []string{name}, nil
	}
	return from.Namespaces(ctx)
}

// atOneMoment returns the store as a database that has snapshots, if it is one.
func (b *backup) atOneMoment() (database.Database, bool) {
	db, ok := b.store.Base.(database.Database)
	_, snapshots := b.store.Base.(database.Snapshotter)
	return db, ok && snapshots && len(b.store.Spec.Routes) == 0
}

func (b *backup) begin(f io.Writer) (*backupfile.Writer, error) {
	b.files = 0
	return backupfile.NewWriter(f, b.store.Spec.URL.String(), time.Now())
}

// snapshots writes each namespace as it is at one moment.
func (b *backup) snapshots(ctx context.Context, db database.Database, f io.Writer) error {
	w, err := b.begin(f)
	if err != nil {
		return err
	}
	names, err := b.namespaces(ctx, db)
	if err != nil {
		return err
	}
	var left []leftout.Entry
	for _, name := range names {
		if err := b.namespace(ctx, w, db, name, &left); err != nil {
			return err
		}
	}
	b.leaveOut(left)
	return w.Finish()
}

// namespace writes one namespace, and adds what it leaves out to left.
func (b *backup) namespace(ctx context.Context, w *backupfile.Writer, db database.Database, name string, left *[]leftout.Entry) (err error) {
	view, err := db.View(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	for f, err := range view.(database.Snapshotter).Snapshot(ctx) {
		if entry, ok := errors.AsType[leftout.Entry](err); ok {
			*left = append(*left, entry)
			continue
		}
		if err != nil {
			return err
		}
		b.files++
		if err := w.Add(backupfile.Record{Namespace: name, File: f}); err != nil {
			return err
		}
	}
	return nil
}

// attempts is how often a store is read, at most, because it changed meanwhile: one that
// has no snapshots, or whose server was restarted.
const attempts = 5

// settled reads a store until it is as it was when the reading began, which is
// then its state at one moment.
func (b *backup) settled(ctx context.Context, f *os.File) error {
	hidden, err := b.store.Hidden(ctx)
	if err != nil {
		return err
	}
	b.leaveOut(hidden)
	for range attempts {
		if err := empty(f); err != nil {
			return err
		}
		unread, same, err := b.attempt(ctx, f)
		if err != nil {
			return err
		}
		if same {
			b.leaveOut(unread)
			return nil
		}
	}
	return fmt.Errorf("%s changed during each of %d attempts, stop its agent for a moment or back up its database", b.store.Spec.URL, attempts)
}

// empty has a file written anew.
func empty(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

func (b *backup) leaveOut(left []leftout.Entry) {
	for _, l := range left {
		b.damaged++
		fmt.Fprintf(b.errout, "left out: %v\n", l)
	}
}

// attempt writes the files that can be read and returns the others. It reports
// false when the store changed meanwhile.
func (b *backup) attempt(ctx context.Context, f *os.File) (unread []leftout.Entry, same bool, err error) {
	w, err := b.begin(f)
	if err != nil {
		return nil, false, err
	}
	seen := map[string]vfs.Revision{}
	files := listing.New(b.store.Backend, listing.All, "/", "", listing.MaxPage)
	for {
		info, more, err := files.Next(ctx)
		if err != nil {
			return nil, false, err
		}
		if !more {
			break
		}
		file, err := files.Read(ctx)
		switch {
		case errors.Is(err, vfs.ErrNotFound):
			return nil, false, nil
		case errors.Is(err, vfs.ErrNotText), errors.Is(err, vfs.ErrTooLarge):
			unread = append(unread, leftout.Entry{Path: info.Path, Err: errors.New(transfer.Reason(err))})
			seen[info.Path] = info.Revision
			continue
		case err != nil:
			return nil, false, &fs.PathError{Op: "read", Path: info.Path, Err: err}
		}
		seen[file.Path] = file.Revision
		b.files++
		if err := w.Add(backupfile.Record{File: file}); err != nil {
			return nil, false, err
		}
	}
	for info, err := range walk.Files(ctx, b.store.Backend, "/") {
		if err != nil {
			return nil, false, err
		}
		if seen[info.Path] != info.Revision {
			return nil, false, nil
		}
		delete(seen, info.Path)
	}
	return unread, len(seen) == 0, w.Finish()
}
