package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// runProgram runs a program of the user, a command as the shell reads it with arguments
// behind it, and waits for its end. It has the terminal as if it were started alone, and
// Ctrl-C, too, which some programs use. A program that has failed is *exec.ExitError.
func runProgram(cmd *cobra.Command, command string, args ...string) error {
	words := append(strings.Fields(command), args...)
	if strings.ContainsAny(command, "|&;<>()$`\\\"'*?[#~=%\n") {
		words = append([]string{"sh", "-c", command + ` "$@"`, command}, args...)
	} // else no shell stands between the program and the signals of the terminal
	run := exec.CommandContext(cmd.Context(), words[0], words[1:]...)
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) } // it may want to save
	run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if out, ok := unscreened(run.Stdout); ok {
		run.Stdout = out
	}
	if errout, ok := unscreened(run.Stderr); ok {
		run.Stderr = errout
	}
	if err := run.Start(); err != nil {
		if failed, ok := errors.AsType[*exec.Error](err); ok {
			err = failed.Err
		}
		return fmt.Errorf("%q cannot be started, name another program: %w", command, reason.Of(err))
	}
	signal.Ignore(os.Interrupt) // after the start, or the program would ignore it too
	err := run.Wait()
	signal.Reset(os.Interrupt)
	return err
}
