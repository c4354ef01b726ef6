package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"regexp"
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

// servers are the background processes of one script, by name.
type servers map[string]*exec.Cmd

type serversKey struct{}

// server starts goliathfs in the background, requires that its first line matches
// a pattern, and goes on when that line is there. What the pattern's group
// matches goes into the variable READY:
//
//	server NAME '^mounted ' mount badger:./store mnt
func server(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: server name pattern argument...")
	}
	self, err := exec.LookPath("goliathfs")
	ts.Check(err)
	cmd := exec.Command(self, args[2:]...)
	cmd.Dir = ts.Getenv("WORK")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	ts.Check(cmd.Start())
	running := ts.Value(serversKey{}).(servers)
	running[args[0]] = cmd
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		delete(running, args[0])
		ts.Fatalf("it is not ready: %v; %v; %s", err, cmd.Wait(), stderr.String())
	}
	match := regexp.MustCompile(args[1]).FindStringSubmatch(strings.TrimSpace(line))
	if match == nil {
		ts.Fatalf("it says %q", line)
	}
	if len(match) > 1 {
		ts.Setenv("READY", match[1])
	}
}

// ended waits for the end of a server, which must be in order.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ended name")
	}
	running := ts.Value(serversKey{}).(servers)
	cmd := running[args[0]]
	delete(running, args[0])
	ts.Check(cmd.Wait())
}

// interrupt ends a server as Ctrl-C does, and waits for it.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: interrupt name")
	}
	ts.Check(ts.Value(serversKey{}).(servers)[args[0]].Process.Signal(os.Interrupt))
	ended(ts, neg, args)
}

// kill ends the servers that a script has left running.
func (s servers) kill() {
	for _, cmd := range s {
		_ = cmd.Process.Kill() // the script has failed, or the process has ended
		_ = cmd.Wait()
	}
}
