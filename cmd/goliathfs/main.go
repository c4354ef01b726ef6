package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
)

func main() { os.Exit(run()) }

// run executes the command line of the process and returns its exit status. The
// first signal to end ends the context, the second the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	// Go ends a process that writes to a closed pipe; catching the signal turns
	// that into an error, so that a store open for writing is closed in order.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	root := newRoot()
	out, errout := onScreen(os.Stdout, false), onScreen(os.Stderr, true)
	root.SetOut(out)
	root.SetErr(errout)
	passwords, err := takePasswords(os.Args[1:], os.Stdin)
	cmd := root
	if err == nil {
		cmd, err = root.ExecuteContextC(passwords.In(ctx))
	}
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	status := report(errout, cmd.CommandPath(), err)
	_ = errout.Flush() // there is nowhere to tell of it
	return status
}

// endSignals are those that ask for an orderly end: a mount is unmounted then and
// a store closed. A closed terminal is one, unless nohup has it ignored.
func endSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}

// The exit statuses.
const (
	exitDone    = 0
	exitRefused = 1
	exitUsage   = 2

	exitInterrupted = 130 // as a shell has it of a program that Ctrl-C ended
)

// report prints err unless that was done already, and returns the exit status.
func report(w io.Writer, command string, err error) int {
	var usage *usageError
	var misuse storeurl.Misuse
	var search *searchError
	var interrupted *interruptedError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errReported), errors.Is(err, syscall.EPIPE):
		return exitRefused
	case errors.As(err, &usage), errors.As(err, &misuse):
		fmt.Fprintf(w, "%s: %s\n", command, visible.Line(err))
		return exitUsage
	case errors.As(err, &interrupted):
		fmt.Fprintf(w, "%s: %s\n", command, visible.Line(err))
		return exitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(w, "%s: interrupted\n", command)
		return exitInterrupted
	case errors.As(err, &search):
		fmt.Fprintf(w, "%s: %s\n", command, visible.Line(err))
		return exitUsage
	}
	fmt.Fprintf(w, "%s: %s\n", command, visible.Line(err))
	return exitRefused
}
