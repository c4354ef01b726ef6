package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

type restoreOptions struct{ triggers, force bool }

func newRestore() *cobra.Command {
	var o restoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE STORE [PATH…]",
		Short: "Make a store from a backup, or take some files from it",
		Long: `Fill an empty or new store with the files of a backup. The backup is read in full
before anything is written, and nothing that exists is replaced. A restore to Badger
or PostgreSQL that was cut short goes on where it was when it is run again. Badger and
PostgreSQL get the revisions and times of the backup, other stores new ones. The
backup of a SQLite database becomes a new database file. FILE can be - for standard
input, of which a copy is kept in the directory for temporary files meanwhile.

With PATHs only the files at and below each are taken, into any store that can be
written, of the namespace that STORE names, or of another where FILE is written
backup:FILE?namespace=N. They get new revisions. A file that is there with the same
text is left alone; one with another text is in the way, and then nothing is restored
unless --force replaces it, which prints the revision that it had.`,
		Example: "  goliathfs restore store.backup badger:./new-store\n  goliathfs restore store.backup unix:/tmp/agent.sock /notes/today.md\n  gunzip < store.backup.gz | goliathfs restore - badger:./new-store",
		GroupID: groupCare,
		Args:    takes(2, -1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1], args[2:]) },
	}
	cmd.Flags().BoolVar(&o.triggers, "triggers", false, "restore a database with triggers, which run whenever a file is written")
	cmd.Flags().BoolVar(&o.force, "force", false, "with PATHs: replace files that have another text")
	return cmd
}

func (o *restoreOptions) run(cmd *cobra.Command, file, to string, paths []string) error {
	spec, err := new(storeFlags).spec(to)
	if err != nil {
		return err
	}
	switch {
	case o.force && len(paths) == 0:
		return usagef("--force is for PATHs, a whole backup is restored to an empty or new store")
	case o.triggers && len(paths) > 0:
		return usagef("--triggers is for a whole database, leave it out to restore some files")
	case spec.URL.Scheme == storeurl.Mem:
		return usagef("%s is only in memory, so nothing would be there afterwards: name a new store of %s", spec.URL, storeurl.Databases(" or "))
	case spec.URL.Scheme == storeurl.Dir:
		return usagef("a backup is restored to a store, take its files from there: goliathfs copy backup:%s %s", shellWord(storeurl.Escape(file)), shellWord(to))
	case !spec.URL.ReadOnly && !spec.Writable("/"): // opening says more of mode=ro
		return fmt.Errorf("%s is read-only, name a store that can be written", spec.URL)
	}
	if file == "-" {
		return withStdinFile(cmd, func(f *os.File) error { return o.restore(cmd, f, "standard input", "", spec, paths) })
	}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(file, string(storeurl.Backup)+":") {
		from, err := storeurl.Parse(file)
		switch {
		case err != nil:
			return usagef("%w", err)
		case from.All:
			return usagef("%s is several namespaces, name one, or leave them out to restore the whole backup", from)
		case from.Namespace != "" && len(paths) == 0:
			return usagef("%s is one namespace, name the PATHs to take from it, or leave it out to restore the whole backup", from)
		}
		return o.file(cmd, from.Target, from.Namespace, spec, paths)
	}
	return o.file(cmd, file, "", spec, paths)
}

// file restores what a file holds, or some files of a namespace of it: of the one that
// the store has, when it is "".
func (o *restoreOptions) file(cmd *cobra.Command, file, namespace string, spec storeurl.Spec, paths []string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s, name the backup", file)
	case err != nil:
		return unreadBackup(file, err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory, name the file of a backup", file)
	case !info.Mode().IsRegular(): // it is read twice
		return fmt.Errorf("%s is not a regular file, write the backup to one first, or restore - takes it from standard input", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return unreadBackup(file, err)
	}
	defer f.Close()
	return o.restore(cmd, f, file, namespace, spec, paths)
}

// restore restores what f holds, which is called by another name in messages.
func (o *restoreOptions) restore(cmd *cobra.Command, f *os.File, called, namespace string, spec storeurl.Spec, paths []string) error {
	switch {
	case len(paths) > 0:
		return restoreSome(cmd, storeurl.URL{Scheme: storeurl.Backup, Target: f.Name(), Namespace: namespace}, spec, paths, o.force)
	case database.IsSQLite(f.Name()):
		return restoreSQLite(cmd, f, spec, o.triggers)
	}
	return restoreLines(cmd, f, called, spec)
}

func unreadBackup(name string, err error) error {
	return fmt.Errorf("the backup %s cannot be read, name another one or look at its rights: %w", name, reason.Of(err))
}

// withStdinFile runs fn with what comes on standard input, as a file.
func withStdinFile(cmd *cobra.Command, fn func(*os.File) error) error {
	if isTerminal(cmd.InOrStdin()) {
		return usagef("a backup comes from a file or a program, for example: gunzip < store.backup.gz | %s - badger:./new-store", cmd.CommandPath())
	}
	dir, err := os.MkdirTemp("", "goliathfs-restore-")
	if err != nil {
		return fmt.Errorf("there is no room for a temporary file: %w", err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "standard-input"))
	if err != nil {
		return fmt.Errorf("there is no room for a temporary file: %w", err)
	}
	defer f.Close()
	_, err = await(cmd.Context(), func() (int64, error) { return io.Copy(f, cmd.InOrStdin()) })
	switch {
	case cmd.Context().Err() != nil:
		return cmd.Context().Err()
	case err != nil:
		return fmt.Errorf("cannot keep standard input: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return fn(f)
}

// restoreSQLite looks at a whole database, copies it to its new place and opens it
// once.
func restoreSQLite(cmd *cobra.Command, f *os.File, spec storeurl.Spec, triggers bool) error {
	if spec.URL.Scheme != storeurl.SQLite {
		return usagef("%s is a database, restore it to sqlite:FILE, or take its files with goliathfs copy sqlite:%s %s", f.Name(), storeurl.Escape(f.Name()), spec.URL)
	}
	if log := database.LogOf(spec.URL.Target); log != "" { // SQLite would play it into the backup
		return fmt.Errorf("%s of an older database is there and would be taken for a part of the restored one, name another file or remove that one", log)
	}
	if err := verifySQLite(cmd.Context(), f.Name(), spec.URL.Namespace, triggers); err != nil {
		return err
	}
	err := newFile(spec.URL.Target, func(to *os.File) error {
		_, err := io.Copy(to, f)
		return err
	})
	if err != nil {
		return err
	}
	return withOpener(func(o *storeurl.Opener) error {
		if _, err := o.Open(cmd.Context(), spec, storeurl.Want{}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "restored the database to %s\n", spec.URL)
		return err
	})
}

// verifySQLite refuses what is not the whole of a sound database with agent files.
func verifySQLite(ctx context.Context, name, namespace string, triggers bool) error {
	u := storeurl.URL{Scheme: storeurl.SQLite, Target: name, Namespace: namespace, ReadOnly: true}
	if log := database.LogOf(name); log != "" {
		return fmt.Errorf("%s belongs to %s, so that is a database and no backup of one: copy it with goliathfs backup sqlite:%s FILE", log, name, storeurl.Escape(name))
	}
	return withOpener(func(o *storeurl.Opener) error {
		s, err := o.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{})
		if err != nil {
			return err
		}
		damage := ""
		err = s.Base.(database.Database).Check(ctx, func(p database.Problem) {
			if p.Rule == database.RuleIntegrity && damage == "" {
				damage = p.Text
			}
		})
		if damage != "" {
			return fmt.Errorf("the backup %s is damaged, so nothing was restored, take another one: %s", name, damage)
		}
		if err != nil {
			return fmt.Errorf("the backup %s cannot be read, so nothing was restored: %w", name, err)
		}
		if found, err := s.Base.(database.Triggered).Triggers(ctx); err != nil {
			return err
		} else if len(found) > 0 && !triggers {
			return fmt.Errorf("the backup %s has triggers that run whenever an agent file is written (%s), so nothing was restored: pass --triggers if they are your app's", name, strings.Join(found, ", "))
		}
		return nil
	})
}

func restoreLines(cmd *cobra.Command, f *os.File, called string, spec storeurl.Spec) error {
	names, held, err := verifyBackup(f)
	if err != nil {
		return fmt.Errorf("%s: %w", called, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return withOpener(func(o *storeurl.Opener) error {
		s, err := o.Open(cmd.Context(), spec, storeurl.Want{Write: true, Create: true, Relaxed: true})
		if err != nil {
			return err
		}
		r, err := newRestorer(s, names, held)
		if err != nil {
			return err
		}
		err = r.run(cmd.Context(), f)
		if closeErr := r.close(); err == nil {
			err = closeErr
		}
		if err != nil {
			err = explain(err, spec.URL.String())
			if errors.Is(err, context.Canceled) {
				err = &interruptedError{"interrupted"} // which is all that would be said of a cancellation
			}
			switch scheme := spec.URL.Scheme; {
			case r.files > 0 && (scheme == storeurl.Badger || scheme == storeurl.Postgres): // which keep revisions
				err = fmt.Errorf("%w; %s may hold a part of the backup now, run it again for the rest", err, spec.URL)
			case r.files > 0:
				err = fmt.Errorf("%w; %s holds only a part of the backup now, so remove it before you restore again", err, spec.URL)
			}
			return err
		}
		was := ""
		if r.was > 0 {
			was = fmt.Sprintf(", where %d of its files were already", r.was)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored %s to %s%s\n", count(r.files, "file", "files"), spec.URL, was)
		return err
	})
}

// verifyBackup reads a whole backup and returns its namespaces, in order, and the
// revisions of its files.
func verifyBackup(f io.Reader) (names []string, held map[filePath]vfs.Revision, err error) {
	held = map[filePath]vfs.Revision{}
	seen := map[string]bool{}
	for r, err := range backupfile.Read(f) {
		if err != nil {
			return nil, nil, err
		}
		if !seen[r.Namespace] {
			seen[r.Namespace] = true
			names = append(names, r.Namespace)
		}
		held[filePath{r.Namespace, r.File.Path}] = r.File.Revision
	}
	return names, held, nil
}

// restorer fills the namespaces of one store.
type restorer struct {
	targets    map[string]vfs.Backend
	held       map[filePath]vfs.Revision // of the backup
	opened     []io.Closer
	files, was int // restored now, and by an earlier restore that was cut short
}

// newRestorer finds a place for each namespace of a backup. One alone goes to
// wherever the URL points.
func newRestorer(s *storeurl.Store, names []string, held map[filePath]vfs.Revision) (*restorer, error) {
	r := &restorer{targets: map[string]vfs.Backend{}, held: held}
	if s.Spec.URL.Namespace != "" && len(names) > 1 {
		return nil, usagef("the backup holds %d namespaces, leave out ?namespace to restore them all", len(names))
	}
	for _, name := range names {
		if s.Spec.URL.Namespace != "" || name == "" {
			r.targets[name] = s.Base
			continue
		}
		db, ok := s.Base.(database.Database)
		if !ok {
			if len(names) > 1 {
				return nil, usagef("the backup holds %d namespaces, restore it to %s", len(names), storeurl.Databases(" or "))
			}
			r.targets[name] = s.Base
			continue
		}
		view, err := db.View(name)
		if err != nil {
			return nil, err
		}
		r.targets[name], r.opened = view, append(r.opened, view)
	}
	return r, nil
}

func (r *restorer) close() error {
	var errs []error
	for _, c := range r.opened {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// restoreBatch is how many files are committed together, at most 1 MiB each.
const restoreBatch = 64

func (r *restorer) run(ctx context.Context, f io.Reader) error {
	there, err := r.there(ctx)
	if err != nil {
		return err
	}
	var batch []vfs.File
	namespace := ""
	for rec, err := range backupfile.Read(f) {
		if err != nil {
			return err
		}
		if rec.Namespace != namespace || len(batch) == restoreBatch {
			if err := r.put(ctx, namespace, batch); err != nil {
				return err
			}
			batch = nil
		}
		if there[filePath{rec.Namespace, rec.File.Path}] {
			continue
		}
		namespace, batch = rec.Namespace, append(batch, rec.File)
	}
	return r.put(ctx, namespace, batch)
}

// there returns the files that are in the store already. It may have those of the backup
// at the revisions that they have there, from a restore that was cut short, and no others.
func (r *restorer) there(ctx context.Context) (map[filePath]bool, error) {
	there := map[filePath]bool{}
	for name, b := range r.targets {
		for info, err := range walk.Files(ctx, b, "/") {
			if err != nil {
				return nil, err
			}
			at := filePath{name, info.Path}
			if r.held[at] != info.Revision {
				return nil, fmt.Errorf("the store is not empty, it holds %s%s, so restore to a new one", info.Path, inNamespace(name))
			}
			there[at] = true
		}
	}
	r.was = len(there)
	return there, nil
}

func inNamespace(name string) string {
	if name == "" {
		return ""
	}
	return " in the namespace " + name
}

func (r *restorer) put(ctx context.Context, namespace string, files []vfs.File) error {
	r.files += len(files)
	b := r.targets[namespace]
	if db, ok := b.(database.Database); ok {
		return db.Restore(ctx, files)
	}
	for _, f := range files {
		if _, err := vfs.Write(ctx, b, f.Path, f.Content, ""); err != nil {
			return err
		}
	}
	return nil
}
