package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

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

// revisionInto puts the current revision of a file into a variable:
//
//	revision REV badger:./store /a.md
func revisionInto(ts *testscript.TestScript, neg bool, args []string) {
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
type servers map[string]*process

type process struct {
	*exec.Cmd
	out *bufio.Reader
	log *bytes.Buffer // standard error, complete after Wait
}

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
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "GORACE",
		"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGSSLMODE", "PGPASSFILE", "PGSERVICEFILE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name)) // the script's, not that of who runs the tests
	}
	log := new(bytes.Buffer) // the script's own is not for concurrent use
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Value(serversKey{}).(servers)[args[0]] = &process{cmd, bufio.NewReader(out), log}
	says(ts, neg, args[:2])
}

// says waits for the next line of a server, which must match a pattern.
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: says name pattern")
	}
	line, err := ts.Value(serversKey{}).(servers)[args[0]].out.ReadString('\n')
	if err != nil {
		ts.Fatalf("%s says nothing: %v", args[0], err)
	}
	match := regexp.MustCompile(args[1]).FindStringSubmatch(strings.TrimSpace(line))
	if match == nil {
		ts.Fatalf("%s says %q", args[0], line)
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
	p := running[args[0]]
	delete(running, args[0])
	err := p.Wait()
	if p.log.Len() > 0 {
		ts.Logf("%s said: %s", args[0], p.log)
	}
	ts.Check(err)
}

// interrupt ends a server as Ctrl-C does, and waits for it.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	sign := os.Signal(os.Interrupt)
	if len(args) == 2 && args[0] == "-hangup" {
		sign, args = syscall.SIGHUP, args[1:]
		if signal.Ignored(sign) { // as by nohup, which the server inherits: then it is right to go on
			sign = os.Interrupt
		}
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: interrupt [-hangup] name")
	}
	ts.Check(ts.Value(serversKey{}).(servers)[args[0]].Process.Signal(sign))
	ended(ts, neg, args)
}

// kill9 ends a server as kill -9 does.
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill9 name")
	}
	running := ts.Value(serversKey{}).(servers)
	p := running[args[0]]
	delete(running, args[0])
	ts.Check(p.Process.Kill())
	_ = p.Wait() // fails, for it was killed
}

// halt interrupts a server and keeps what it says at its end in NAME.out and
// NAME.err. It must end in order, or with status 1 if that is said:
//
//	halt [-refused] NAME
func halt(ts *testscript.TestScript, neg bool, args []string) {
	refused := len(args) == 2 && args[0] == "-refused"
	if refused {
		args = args[1:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: halt [-refused] name")
	}
	running := ts.Value(serversKey{}).(servers)
	p := running[args[0]]
	delete(running, args[0])
	ts.Check(p.Process.Signal(os.Interrupt))
	out, err := io.ReadAll(p.out)
	ts.Check(err)
	_ = p.Wait() // its status is looked at
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), out, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".err"), p.log.Bytes(), 0o600))
	want := 0
	if refused {
		want = 1
	}
	if got := p.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d: %s", got, want, p.log)
	}
}

// waitLog waits until a journal tells of what matches a pattern:
//
//	waitlog FILE 'write .* /a.md'
func waitLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitlog file pattern")
	}
	pattern := regexp.MustCompile(args[1])
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-look.C {
		if ts.Exec("goliathfs", "log", args[0]) == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s does not tell of %s", args[0], args[1])
}

// roundtrip records the agent with a scripted model as the real one and replays
// what was recorded: the answer and the files must be the same, and the store as
// it was.
func roundtrip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: roundtrip")
	}
	work := ts.Getenv("WORK")
	dir, err := os.MkdirTemp(work, "recorded-")
	ts.Check(err)
	server(ts, false, []string{"upstream", `^answering at (http://127.0.0.1:\d+) `, "model", "upstream.txtar"})
	out := dir + "/scenarios/fix.txtar"
	ts.Check(os.Mkdir(dir+"/scenarios", 0o700))
	ts.Check(ts.Exec("goliathfs", "record", "--to", ts.Getenv("READY"), "--store", "static:docs", "--allow-writes", "--out", out, "--", "agent", "Fix the typo."))
	answer := ts.ReadFile("stdout")
	halt(ts, false, []string{"upstream"})
	scenario := ts.ReadFile(out)
	for _, secret := range []string{"sk-secret", "You are a test", "127.0.0.1"} {
		if strings.Contains(scenario, secret) {
			ts.Fatalf("the scenario holds %q:\n%s", secret, scenario)
		}
	}
	// It runs with nothing of this environment, so the protocol goes with the command.
	agent := "PROTOCOL=" + ts.Getenv("PROTOCOL") + " STREAM=" + ts.Getenv("STREAM") + " agent 'Fix the typo.'"
	if err := ts.Exec("goliathfs", "replay", "--update", "--agent", agent, out); err == nil {
		ts.Fatalf("the replay wrote no golden:\n%s", scenario)
	}
	ts.Check(ts.Exec("goliathfs", "replay", "--agent", agent, out))
	golden := ts.ReadFile(dir + "/golden/fix.txtar")
	for _, want := range []string{"stdout: " + answer, "-- file /guide.md --\nYou will receive a reply.\n", "-- file /notes/new.md (quoted) --\n>no newline", "-- file /other.md --\nAnother.\n", "error 429"} {
		if !strings.Contains(golden, want) {
			ts.Fatalf("the replay shows no %q:\n%s\n%s", want, golden, scenario)
		}
	}
	if text := ts.ReadFile("docs/guide.md"); text != "You will recieve a reply.\n" {
		ts.Fatalf("the recording changed the store: %q", text)
	}
}

// kill ends the servers that a script has left running.
func (s servers) kill() {
	for _, p := range s {
		_ = p.Process.Kill() // the script has failed, or the process has ended
		_ = p.Wait()
	}
}
