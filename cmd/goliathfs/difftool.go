package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/internal/reason"
)

// diffTool shows differences in a program of the user.
type diffTool struct {
	cmd     *cobra.Command
	command string // for the shell, which gets two names of files behind it
}

// show runs the program with the contents of both sides in files that go away when it
// has ended, an empty one for the side that lacks the file. Programs for differences
// end with all kinds of status; only one that the shell cannot run, or that was
// interrupted, is an error.
func (t *diffTool) show(c transfer.Change) error {
	dir, err := os.MkdirTemp("", "goliathfs-diff-")
	if err != nil {
		return fmt.Errorf("there is no room for temporary files: %w", reason.Of(err))
	}
	defer os.RemoveAll(dir)
	var names []string
	for _, side := range []struct{ name, content string }{{"a", c.A}, {"b", c.B}} {
		name := filepath.Join(dir, side.name, draftName(c.Path))
		err := os.Mkdir(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(side.content), 0o400)
		}
		if err != nil {
			return fmt.Errorf("there is no room for temporary files: %w", reason.Of(err))
		}
		names = append(names, name)
	}
	err = runProgram(t.cmd, t.command, names...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	const cannotRun, notFound = 126, 127 // of a shell
	switch {
	case !ok:
		return err
	case exit.ExitCode() == cannotRun, exit.ExitCode() == notFound:
		return fmt.Errorf("the tool %q cannot be run (%v), name another one with --tool", t.command, exit)
	case exit.ExitCode() < 0, exit.ExitCode() == exitInterrupted:
		return &interruptedError{"interrupted"}
	}
	return nil
}
