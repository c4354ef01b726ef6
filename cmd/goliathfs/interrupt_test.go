//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
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
		{"backup STORE OUT", syscall.SIGINT},
		{"stats --json STORE", syscall.SIGTERM},
		{"mount STORE OUT", syscall.SIGINT},
		{"mount --rw --detach STORE OUT", syscall.SIGINT},
		{"rm STORE /a.md", syscall.SIGINT},
		{"memory STORE", syscall.SIGINT},
		{"cp STORE /a.md badger:OUT", syscall.SIGINT},
		{"cp -r STORE /a.md mem: /b.md", syscall.SIGTERM},
		{"mv STORE /a.md /b.md", syscall.SIGINT},
		{"write --force STORE /a.md", syscall.SIGINT},
		{"backup STORE -", syscall.SIGINT},
		{"diff --tool true STORE mem:", syscall.SIGINT},
		{"call --store STORE grep {\"pattern\":\"x\"}", syscall.SIGINT},
		{"call --json --store STORE readFile {\"path\":\"/a.md\"}", syscall.SIGINT},
		{"call --jsonl --store STORE", syscall.SIGINT},
	} {
		t.Run(tt.verb+" "+tt.sign.String(), func(t *testing.T) {
			t.Parallel()
			if err := fusebridge.Probe().Err; err != nil && strings.HasPrefix(tt.verb, "mount ") {
				t.Skip("no mounts here: ", err)
			}
			dir, err := os.MkdirTemp("", "goliathfs-") // a socket's name must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			agent := silent{make(chan struct{}, 1)}
			store := serveSilent(t, filepath.Join(dir, "s"), agent)
			words := strings.NewReplacer("STORE", store, "OUT", filepath.Join(dir, "out")).Replace(tt.verb)
			cmd := exec.CommandContext(t.Context(), program, strings.Fields(words)...)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
			cmd.Stdin = strings.NewReader(`{"tool":"readFile","input":{"path":"/a.md"}}` + "\n")
			out := interrupted(t, cmd, tt.sign, agent.asked)
			if text := out; strings.Contains(text, "a.md") || strings.HasPrefix(tt.verb, "call --store") && text != "" {
				t.Errorf("standard output holds %q", text)
			}
		})
	}
}

// interrupted starts a verb, sends it the signal when it has reached the middle, and
// returns its standard output. It must end with status 130 and one sentence.
func interrupted(t *testing.T, cmd *exec.Cmd, sign os.Signal, middle <-chan struct{}) string {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-middle:
	case err := <-ended:
		t.Fatalf("it ended before its middle: %v, %s", err, &said)
	}
	if err := cmd.Process.Signal(sign); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit status %d, want %d", got, exitInterrupted)
	}
	text := said.String()
	for strings.HasPrefix(text, "time=") { // the log of a mount
		_, text, _ = strings.Cut(text, "\n")
	}
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "goliathfs "+cmd.Args[1]+": interrupted") {
		t.Errorf("standard error is not one sentence: %q", text)
	}
	return out.String()
}

// TestInterruptedInput: a verb that waits for its input, which no one ends, is
// interrupted by the first Ctrl-C.
func TestInterruptedInput(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: when it is written, the verb is reading.
	half := strings.Repeat(" ", 1<<20)
	for _, words := range []string{
		"write mem: /a.md",
		"call --store mem: readFile -",
		"call --jsonl",
		"restore - badger:none",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, strings.Fields(words)...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if out := interrupted(t, cmd, os.Interrupt, written(t, in, half)); out != "" {
				t.Errorf("standard output holds %q", out)
			}
		})
	}
	t.Run("import PIPE", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		pipe := filepath.Join(dir, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.OpenFile(pipe, os.O_RDWR, 0) // which waits for no reader
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "import", "--from", "claude-code", "--out", filepath.Join(dir, "out"), pipe)
		if out := interrupted(t, cmd, os.Interrupt, written(t, in, half)); out != "" {
			t.Errorf("standard output holds %q", out)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it made something: %v", err)
		}
	})
}

// TestInterruptedEdit: what was edited is kept also when Ctrl-C comes while the store, to
// which it is to be written, does not open.
func TestInterruptedEdit(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "goliathfs-") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := memfs.New(map[string]string{"/a.md": "a\n"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := remotefs.Listen("unix:" + filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	once := &onceHeard{Listener: l, second: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- remotefs.Serve(ctx, once, b, &remotefs.ServeOptions{Writable: true}) }()
	defer func() {
		stop()
		<-served
	}()
	cmd := exec.CommandContext(t.Context(), program, "edit", "unix:"+filepath.Join(dir, "s"), "/a.md")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "VISUAL=", `EDITOR=sh -c 'echo b > "$1"' sh`)
	interrupted(t, cmd, os.Interrupt, once.second) // and not because no one answers
	kept, err := filepath.Glob(filepath.Join(dir, "goliathfs", "edits", "*", "a.md"))
	if err != nil || len(kept) != 1 {
		t.Errorf("what was edited is in %q, %v", kept, err)
	}
}

// onceHeard accepts one connection; of the second it is told, and no one answers it.
type onceHeard struct {
	net.Listener
	heard  bool
	second chan struct{} // closed when it comes
	silent net.Conn      // it
}

func (l *onceHeard) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err != nil:
			return nil, err
		case !l.heard:
			l.heard = true
			return conn, nil
		case l.silent == nil:
			l.silent = conn
			close(l.second)
		}
	}
}

// TestInterruptedRelay: a relay between two that are silent ends at the first signal, as
// a client of MCP ends its servers.
func TestInterruptedRelay(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	joined := make(chan struct{})
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return
		}
		close(joined)
		_, _ = conn.Read(make([]byte, 1)) // returns when the relay has ended
	}()
	cmd := exec.CommandContext(t.Context(), program, "relay", l.Addr().String())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	written(t, in, "x")
	if out := interrupted(t, cmd, syscall.SIGTERM, joined); out != "" {
		t.Errorf("standard output holds %q", out)
	}
}

// written writes a text in the background, says when it is done, and leaves the file
// open until the test ends.
func written(t *testing.T, f io.WriteCloser, text string) <-chan struct{} {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := io.WriteString(f, text); err == nil {
			close(done)
		}
	}()
	t.Cleanup(func() {
		f.Close()
		<-ended
	})
	return done
}

// TestInterruptedReplay: the agent of a scenario, and what it started, ends with the
// replay, which writes no golden.
func TestInterruptedReplay(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(dir, "scenarios", "hello.txtar")
	if err := os.Mkdir(filepath.Dir(scenario), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scenario, []byte("-- scenario.yaml --\nversion: 1\nwire: [{when: hello, model: [{text: Hello.}]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// It says that it runs, and the pipe's end says that all of it has ended.
	f, err := os.OpenFile(started, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	running := make(chan struct{})
	go func() {
		if _, err := f.Read(make([]byte, 1)); err == nil {
			close(running)
		}
	}()
	cmd := exec.CommandContext(t.Context(), program, "replay", "--update", "--agent", "echo > '"+started+"'; sleep 3600", scenario)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "CI=false")
	interrupted(t, cmd, os.Interrupt, running)
	f.Close()
	if _, err := os.Stat(filepath.Join(dir, "golden")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it made a golden: %v", err)
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
