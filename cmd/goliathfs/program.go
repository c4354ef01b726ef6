package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// runProgram runs a program of the user, a command of the shell with arguments behind
// it, and waits for its end. It has the terminal as if it were started alone, and
// Ctrl-C, too, which some programs use. A program that has failed is *exec.ExitError.
func runProgram(cmd *cobra.Command, command string, args ...string) error {
	run := exec.CommandContext(cmd.Context(), "sh", append([]string{"-c", command + ` "$@"`, command}, args...)...)
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) } // it may want to save
	run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if out, ok := unscreened(run.Stdout); ok {
		run.Stdout = out
	}
	if errout, ok := unscreened(run.Stderr); ok {
		run.Stderr = errout
	}
	if err := run.Start(); err != nil {
		return fmt.Errorf("the command %q cannot be started: %w", command, reason.Of(err))
	}
	signal.Ignore(os.Interrupt) // after the start, or the program would ignore it too
	err := run.Wait()
	signal.Reset(os.Interrupt)
	return err
}
