package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/vfs"
)

func newEdit() *cobra.Command {
	var e edit
	cmd := &cobra.Command{
		Use:   "edit STORE PATH",
		Short: "Change a file in your editor",
		Long: `Open the file at PATH in the editor that VISUAL or EDITOR names, and write what you
save, if the file is still at the revision that you saw. A file that does not exist is
made. The store is not held open meanwhile. Prints the path and the new revision.

When someone else changed the file, or it cannot be written for another reason, what
you wrote stays in a file whose name is said; after a change you are shown what differs.`,
		Example: "  goliathfs edit badger:./store /notes/today.md\n  EDITOR='code --wait' goliathfs edit unix:/tmp/agent.sock /notes/today.md",
		GroupID: groupWrite,
		Args:    takes(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0], args[1]) },
	}
	e.flags.register(cmd)
	return cmd
}

// edit is one change of one file by a person.
type edit struct {
	flags storeFlags
	store string // the argument
	path  string // canonical
	begun vfs.File
	draft *draft
}

func (e *edit) run(cmd *cobra.Command, store, path string) (err error) {
	e.store = store
	if e.path, err = toWrite(path); err != nil {
		return err
	}
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")))
	if editor == "" {
		return errors.New("neither VISUAL nor EDITOR is set, so there is no editor: set one, for example EDITOR=nano")
	}
	if err := e.read(cmd); err != nil {
		return err
	}
	if e.draft, err = newDraft(e.path, e.begun.Content); err != nil {
		return err
	}
	err = e.draft.edit(cmd, editor)
	// The editor may have used the signal of Ctrl-C for itself, which counts again now.
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // the second ends the process
	cmd.SetContext(ctx)
	content, readErr := e.draft.read()
	switch {
	case errors.Is(readErr, fs.ErrNotExist):
		e.draft.discard()
		return cmp.Or(err, errors.New("the editor removed its file, so nothing was written"))
	case readErr != nil:
		return fmt.Errorf("what you wrote cannot be read: %w", readErr)
	case content == e.begun.Content:
		e.draft.discard()
		if err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: nothing changed, so nothing was written\n", printable(e.path))
		}
		return err
	case err == nil:
		err = e.write(cmd, content)
	case ctx.Err() != nil: // which the editor was told
		err = ctx.Err()
	}
	if err == nil {
		e.draft.discard()
		return nil
	}
	return e.kept(err)
}

// kept says of an error that what was written is not lost.
func (e *edit) kept(err error) error {
	if errors.Is(err, context.Canceled) {
		return &interruptedError{fmt.Sprintf("interrupted, what you wrote is in %s", e.draft.name)}
	}
	if wrong, ok := errors.AsType[*usageError](err); ok {
		err = wrong.err // whatever it was, the use was right
	}
	return fmt.Errorf("%w; what you wrote is in %s", err, e.draft.name)
}

// read takes what there is, perhaps nothing, if it can be written at all.
func (e *edit) read(cmd *cobra.Command) error {
	// Only a store that is opened for writing tells whether it can be written.
	return e.flags.withStore(cmd, e.store, storeurl.Want{Write: true}, func(s *storeurl.Store) error {
		writable, err := s.Writable(cmd.Context(), e.path)
		if err != nil {
			return err
		}
		if !writable {
			return &fs.PathError{Op: "write", Path: e.path, Err: vfs.ErrReadOnly}
		}
		e.begun, err = vfs.Read(cmd.Context(), s.Backend, e.path)
		if !errors.Is(err, vfs.ErrNotFound) {
			return err
		}
		if err = noFile(cmd.Context(), s, err); isDirectory(err) {
			return err
		}
		return nil
	})
}

// write replaces the revision that was seen, or makes the file.
func (e *edit) write(cmd *cobra.Command, content string) error {
	return e.flags.withStore(cmd, e.store, storeurl.Want{Write: true}, func(s *storeurl.Store) error {
		info, err := vfs.Write(cmd.Context(), s.Backend, e.path, content, e.begun.Revision)
		if errors.Is(err, vfs.ErrConflict) {
			return e.lost(cmd, s, content)
		}
		if err != nil {
			return err
		}
		out := newOutput(cmd)
		out.Printf("%s %s\n", info.Path, info.Revision)
		tellGone(cmd, s.Spec, info.Path)
		return out.Flush()
	})
}

// lost shows what differs from what someone else has written meanwhile.
func (e *edit) lost(cmd *cobra.Command, s *storeurl.Store, content string) error {
	now, err := vfs.Read(cmd.Context(), s.Backend, e.path)
	switch {
	case errors.Is(err, vfs.ErrNotFound):
		return fmt.Errorf("%s: someone removed it while you edited, so nothing was written", e.path)
	case err != nil:
		return fmt.Errorf("%s: someone changed it while you edited, so nothing was written", e.path)
	}
	colour := (&colourFlag{colourAuto}).wanted(cmd)
	out := diffOutput(cmd, colour)
	printUnified(out, transfer.Change{Path: e.path, Kind: transfer.Changed, A: now.Content, B: content}, colour)
	if err := out.Flush(); err != nil {
		return err
	}
	return fmt.Errorf("%s: someone changed it while you edited, so nothing was written: it is at revision %s, and the difference to that (-) is shown", e.path, now.Revision)
}
