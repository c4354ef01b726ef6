package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// typed types into a shell on a terminal of its own, where completion is loaded, and
// keeps what the terminal showed in NAME.typed. Each text is one line or more, and may
// hold \t for the Tab key:
//
//	typed bash 'goliathfs ls stat\t\n'
func typed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: typed shell text...")
	}
	start := map[string]string{"bash": "bash --norc --noprofile -i", "zsh": "zsh -f -i"}[args[0]]
	if start == "" {
		ts.Fatalf("there is no shell %s", args[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "-qfec", start, os.DevNull)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Env = append(cmd.Env, "TERM=dumb", "SHELL=/bin/sh", "HISTFILE=", "INPUTRC=/dev/null")
	in, err := cmd.StdinPipe()
	ts.Check(err)
	pipe, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	out := bufio.NewReader(pipe)
	var shown strings.Builder
	var lines []string
	if args[0] == "zsh" {
		lines = append(lines, "autoload -Uz compinit; compinit -u -D\n")
	}
	lines = append(lines, "source <(goliathfs completion "+args[0]+")\n")
	for _, text := range args[1:] {
		line, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
		ts.Check(err)
		lines = append(lines, line)
	}
	for i, line := range lines {
		// A line that says that it is done is written so that it does not show that.
		done := fmt.Sprintf("DONE%d\r\n", i)
		_, err := fmt.Fprintf(in, "%secho DO''NE%d\n", line, i)
		ts.Check(err)
		for from := shown.Len(); !strings.HasSuffix(shown.String()[from:], done); {
			b, err := out.ReadByte()
			if err != nil {
				ts.Fatalf("%s ended while %q was typed: %v\n%s", args[0], line, err, &shown)
			}
			shown.WriteByte(b)
		}
	}
	_, err = io.WriteString(in, "exit\n")
	ts.Check(err)
	_, err = io.Copy(io.Discard, out)
	ts.Check(err)
	ts.Check(cmd.Wait())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".typed"), []byte(shown.String()), 0o600))
}
