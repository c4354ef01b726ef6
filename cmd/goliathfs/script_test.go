package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// status runs a command and requires its exit status:
//
//	status 2 goliathfs ls
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// revision puts the current revision of a file into a variable:
//
//	revision REV badger:./store /a.md
func revision(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: revision VARIABLE store path")
	}
	ts.Check(ts.Exec("goliathfs", "stat", args[1], args[2]))
	for line := range strings.SplitSeq(ts.ReadFile("stdout"), "\n") {
		if rev, ok := strings.CutPrefix(line, "revision"); ok {
			ts.Setenv(args[0], strings.TrimSpace(rev))
			return
		}
	}
	ts.Fatalf("stat printed no revision")
}

// sentence requires that standard error is one line that starts with the words
// "goliathfs verb:".
func sentence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sentence verb")
	}
	text := ts.ReadFile("stderr")
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "goliathfs "+args[0]+": ") {
		ts.Fatalf("standard error is not one sentence of %s: %q", args[0], text)
	}
}
