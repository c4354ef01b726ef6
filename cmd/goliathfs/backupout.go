package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// backupToOutput writes a backup to standard output. What is not read at one moment
// goes through a file in the directory for temporary ones.
func backupToOutput(cmd *cobra.Command, flags *storeFlags, raw string) error {
	if isTerminal(cmd.OutOrStdout()) {
		return usagef("a backup is nothing for a terminal, write it to a file or a program, for example: goliathfs backup %s store.backup", shellWord(raw))
	}
	return flags.withStore(cmd, raw, storeurl.Want{}, func(s *storeurl.Store) error {
		b := backup{store: s, errout: cmd.ErrOrStderr()}
		what, err := b.output(cmd)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s to standard output\n", what)
		if b.damaged > 0 {
			return errReported
		}
		return nil
	})
}

// output writes the backup and returns what it is, for a person.
func (b *backup) output(cmd *cobra.Command) (what string, err error) {
	out := outputFile{cmd.OutOrStdout()}
	if db, ok := b.atOneMoment(); ok {
		err := b.snapshots(cmd.Context(), db, out)
		return count(b.files, "file", "files"), err
	}
	dir, err := os.MkdirTemp("", "goliathfs-backup-")
	if err != nil {
		return "", fmt.Errorf("there is no room for a temporary file: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "backup")
	if db, ok := b.store.Base.(database.Copier); ok && len(b.store.Spec.Routes) == 0 {
		what, err = "the database", db.Backup(cmd.Context(), name)
	} else {
		err = newFile(name, func(f *os.File) error { return b.write(cmd.Context(), f) })
		what = count(b.files, "file", "files")
	}
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return what, err
}

// outputFile is standard output, whose errors say so.
type outputFile struct{ w io.Writer }

func (o outputFile) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		err = outputError{err}
	}
	return n, err
}
