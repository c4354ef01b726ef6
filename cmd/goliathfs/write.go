package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// writeOptions are what the flags of write say.
type writeOptions struct {
	storeFlags
	revision string
	asJSON   bool
	force    bool
}

func newWrite() *cobra.Command {
	var o writeOptions
	cmd := &cobra.Command{
		Use:   "write STORE PATH",
		Short: "Create or replace a file from standard input",
		Long: `Create the file at PATH with the bytes of standard input, or, with --revision,
replace exactly that version of it. --force replaces whatever is there, and names its
revision on standard error. Prints the path and the new revision. A store in a database
that does not exist is made.`,
		Example: "  echo hello | goliathfs write badger:./store /notes/today.md\n  goliathfs write badger:./store /notes/today.md --revision BoLVjAxyzabc < new.md",
		GroupID: groupWrite,
		Args:    takes(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.revision, "revision", "", "replace this `revision` instead of creating the file")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace what is there, whatever its revision")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print a JSON object")
	return cmd
}

func (o *writeOptions) run(cmd *cobra.Command, store, to string) error {
	if cmd.Flags().Changed("revision") && o.revision == "" {
		return usagef("--revision is empty, leave it out to create a file")
	}
	if o.force && o.revision != "" {
		return usagef("--revision replaces one version and --force any, leave one of them out")
	}
	path, err := toWrite(to)
	if err != nil {
		return err
	}
	content, err := readStdin(cmd)
	if err != nil {
		return err
	}
	want := storeurl.Want{Write: true, Create: true}
	if o.revision != "" {
		want = storeurl.Want{Write: true} // a store made just now could not hold it
	} else if err := refused(&o.storeFlags, store, path, content); err != nil {
		return err
	}
	return o.withStore(cmd, store, want, func(s *storeurl.Store) error { return o.write(cmd, s, path, content) })
}

// write makes the file, or replaces it, and prints what is there now.
func (o *writeOptions) write(cmd *cobra.Command, s *storeurl.Store, path, content string) (err error) {
	var info vfs.Info
	var replaced vfs.Revision
	if o.force {
		info, replaced, err = putFile(cmd.Context(), s, path, content, true)
	} else if info, err = vfs.Write(cmd.Context(), s.Backend, path, content, vfs.Revision(o.revision)); err != nil {
		err = conflict(cmd.Context(), s, path, vfs.Revision(o.revision), err)
	}
	if err != nil {
		return err
	}
	tellReplaced(cmd, info.Path, replaced)
	out := newOutput(cmd)
	if o.asJSON {
		out.JSON(struct {
			listed
			Replaced vfs.Revision `json:"replaced,omitempty"`
		}{listedOf(walk.Entry{Info: info}), replaced})
	} else {
		out.Printf("%s %s\n", info.Path, info.Revision)
	}
	tellGone(cmd, s.Spec, info.Path)
	return out.Flush()
}

// toWrite returns the canonical path of a file that a verb is asked to write.
func toWrite(arg string) (string, error) {
	path, err := vpath.CleanFile(arg)
	switch {
	case err != nil:
		return "", usagef("%s: %w", arg, err)
	case strings.HasSuffix(arg, "/"):
		return "", usagef("%s is the name of a directory, and those are there by themselves: leave out the slash at its end to write the file %s", arg, path)
	}
	return path, nil
}

// refused returns why a file cannot be created, as far as that shows before the
// store is opened, so that no empty store is made.
func refused(flags *storeFlags, raw, path, content string) error {
	spec, err := flags.spec(raw)
	if err != nil {
		return err
	}
	if err = textfile.Check(content); err == nil && !spec.URL.ReadOnly && !spec.Writable(path) { // opening says more of mode=ro
		err = vfs.ErrReadOnly
	}
	if err != nil {
		return explain(&fs.PathError{Op: "write", Path: path, Err: err}, storeWords(spec))
	}
	return nil
}

// conflict says of a conflict what the current revision is.
func conflict(ctx context.Context, s *storeurl.Store, path string, asked vfs.Revision, err error) error {
	if !errors.Is(err, vfs.ErrConflict) {
		return err
	}
	info, statErr := vfs.Stat(ctx, s.Backend, path)
	switch {
	case errors.Is(statErr, vfs.ErrNotFound):
		return fmt.Errorf("%s: it does not exist any more, leave out --revision to create it", path)
	case statErr != nil:
		return err
	case asked == "":
		return fmt.Errorf("%s: it exists at revision %s, pass --revision %[2]s to replace it, or --force", info.Path, info.Revision)
	}
	return fmt.Errorf("%s: it is at revision %s, not %s: look at it again, then pass --revision %[2]s", info.Path, info.Revision, asked)
}
