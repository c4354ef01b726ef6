//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// A recording that Ctrl-C ends is written as far as it went.
func TestInterruptedRecording(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := wire.NewServer([]wire.Script{{Replies: []wire.Reply{
		{Text: "Looking.", Calls: []wire.Call{{Name: "writeFile", Input: []byte(`{"path":"/new.md","content":"new"}`)}}},
		{Text: "Late.", Delay: time.Hour},
	}}}, nil)
	middle := make(chan struct{})
	asked := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 2 { // the agent asks one after the other
			close(middle)
		}
		script.ServeHTTP(w, r)
	}))
	defer model.Close()
	cmd := exec.CommandContext(t.Context(), program, "record", "--to", model.URL, "--store", "static:docs", "--allow-writes", "--out", "out.txtar", "--", "agent", "Write.")
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-middle
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said.String(), "goliathfs record: interrupted, so out.txtar ends where the agent was stopped\n") {
		t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), &said)
	}
	scenario, err := os.ReadFile(filepath.Join(dir, "out.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(scenario), "wire:\n")
	const want = `  - when: "Write."
    model:
      - {text: "Looking.", toolCall: {name: "writeFile", input: {"content":"new","path":"/new.md"}}}
expect:
  files:
    "/new.md": {text: "new"}
`
	if body != want {
		t.Errorf("the scenario is\n%s, want\n%s", body, want)
	}
}

// A server that Ctrl-C ends writes what it has recorded, also over standard input
// that nobody closes.
func TestInterruptedRecordingServer(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "mcp", "mem:", "--record", "out.txtar")
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"readFile","arguments":{"path":"/nope"}}}
`); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "wrote out.txtar of 1 call") {
		t.Errorf("%v: %s", err, &said)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.txtar")); err != nil {
		t.Error(err)
	}
}
