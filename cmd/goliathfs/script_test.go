package main

import (
	"bufio"
	"errors"
	"os"
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

// mounts are the background processes of one script, by name.
type mounts map[string]*exec.Cmd

// mount starts "goliathfs mount STORE DIR" in the background and returns when it
// is ready:
//
//	mount NAME badger:./store mnt
func mount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mount name store dir")
	}
	self, err := exec.LookPath("goliathfs")
	ts.Check(err)
	cmd := exec.Command(self, "mount", args[1], args[2])
	cmd.Dir = ts.Getenv("WORK")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	ts.Check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		ts.Fatalf("mount is not ready: %v; %v; %s", err, cmd.Wait(), stderr.String())
	}
	if !strings.HasPrefix(line, "mounted "+args[1]+" at ") {
		ts.Fatalf("mount says %q", line)
	}
	ts.Value(mountsKey{}).(mounts)[args[0]] = cmd
}

type mountsKey struct{}

// ended waits for the end of a mount, which must be in order.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ended name")
	}
	ts.Check(ts.Value(mountsKey{}).(mounts)[args[0]].Wait())
}

// interrupt ends a mount as Ctrl-C does, and waits for it.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: interrupt name")
	}
	ts.Check(ts.Value(mountsKey{}).(mounts)[args[0]].Process.Signal(os.Interrupt))
	ended(ts, neg, args)
}
