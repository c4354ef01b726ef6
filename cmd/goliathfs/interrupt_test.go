//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// silent is the store of an agent that has one file and answers no question about it.
type silent struct{ asked chan struct{} }

func (s silent) wait(ctx context.Context) error {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s silent) Read(ctx context.Context, _ string) (vfs.File, error) {
	return vfs.File{}, s.wait(ctx)
}

func (s silent) List(ctx context.Context, _ string, _ vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, s.wait(ctx)
}

// TestInterrupted: a verb that Ctrl-C or another signal to end reaches in the middle
// ends at once with status 130 and says so in one sentence.
func TestInterrupted(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		verb string // STORE stands for the agent's, OUT for a name in an empty folder
		sign syscall.Signal
	}{
		{"ls STORE", syscall.SIGINT},
		{"cat STORE /a.md", syscall.SIGINT},
		{"cat STORE /a.md", syscall.SIGTERM},
		{"stat STORE /a.md", syscall.SIGINT},
		{"tree STORE", syscall.SIGINT},
		{"stats STORE", syscall.SIGINT},
		{"find STORE /**/*.md", syscall.SIGINT},
		{"grep x STORE", syscall.SIGINT},
		{"diff STORE mem:", syscall.SIGINT},
		{"diff mem: STORE", syscall.SIGINT},
		{"copy STORE dir:OUT", syscall.SIGINT},
		{"copy STORE badger:OUT", syscall.SIGTERM},
		{"copy STORE sqlite:OUT", syscall.SIGINT},
		{"check STORE", syscall.SIGINT},
		{"memory STORE", syscall.SIGINT},
		{"call --store STORE grep {\"pattern\":\"x\"}", syscall.SIGINT},
		{"call --json --store STORE readFile {\"path\":\"/a.md\"}", syscall.SIGINT},
		{"call --jsonl --store STORE", syscall.SIGINT},
	} {
		t.Run(tt.verb+" "+tt.sign.String(), func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "goliathfs-") // a socket's name must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			agent := silent{make(chan struct{}, 1)}
			store := serveSilent(t, filepath.Join(dir, "s"), agent)
			words := strings.NewReplacer("STORE", store, "OUT", filepath.Join(dir, "out")).Replace(tt.verb)
			cmd := exec.CommandContext(t.Context(), program, strings.Fields(words)...)
			cmd.Stdin = strings.NewReader(`{"tool":"readFile","input":{"path":"/a.md"}}` + "\n")
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-agent.asked:
			case err := <-ended:
				t.Fatalf("it ended before the agent was asked: %v, %s", err, &said)
			}
			if err := cmd.Process.Signal(tt.sign); err != nil {
				t.Fatal(err)
			}
			<-ended
			if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
				t.Errorf("exit status %d, want %d", got, exitInterrupted)
			}
			if text := said.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "goliathfs "+strings.Fields(words)[0]+": interrupted") {
				t.Errorf("standard error is not one sentence: %q", text)
			}
			if text := out.String(); strings.Contains(text, "a.md") || strings.HasPrefix(tt.verb, "call --store") && text != "" {
				t.Errorf("standard output holds %q", text)
			}
		})
	}
}

// serveSilent serves a store at a socket until the test ends, and returns its URL.
func serveSilent(t *testing.T, socket string, b vfs.Backend) string {
	t.Helper()
	l, err := remotefs.Listen("unix:" + socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- remotefs.Serve(ctx, l, b, nil) }()
	t.Cleanup(func() {
		stop()
		<-served
	})
	return "unix:" + socket
}
