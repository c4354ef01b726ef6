package stores_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// job is what this test binary does when it is started again.
type job struct {
	Role    string
	Kind    string // of the store
	Dir     string // where the store is
	Addr    string // where it is served
	Rounds  int
	For     time.Duration
	Options options
}

const jobVariable = "GOLIATHFS_STORES_JOB"

func TestMain(m *testing.M) {
	text := os.Getenv(jobVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = j.run(context.Background(), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, errNoMount) {
			os.Exit(noMountStatus)
		}
		os.Exit(1)
	}
}

// errNoMount: this machine, such as a container, gives root no file system.
var errNoMount = errors.New("no file system can be mounted here")

// noMountStatus is how a process ends that found errNoMount.
const noMountStatus = 3

// run tells its parent on out what it does.
func (j job) run(ctx context.Context, out io.Writer) error {
	switch j.Role {
	case "rewrite":
		return rewriteForever(ctx, j, out)
	case "serve":
		return serveForever(ctx, j, out)
	case "words":
		return writeWords(ctx, j, out)
	case "stress":
		return stressApart(ctx, j, out)
	}
	return j.runOnHost(ctx, out)
}

// command is the job as a process that was not started yet.
func (j job) command(ctx context.Context) (*exec.Cmd, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	return cmd, nil
}

// process is a job that runs.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
	err bytes.Buffer
}

func (j job) start(ctx context.Context) (*process, error) {
	cmd, err := j.command(ctx)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	cmd.Stderr = &p.err
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, cmd.Start()
}

// line returns the next line that the process tells.
func (p *process) line() (string, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the process ended early: %w, %s", p.cmd.Wait(), &p.err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// kill ends the process as kill -9 does and returns what it told until then. A
// process that failed before is an error.
func (p *process) kill() (lines []string, err error) {
	if err := p.cmd.Process.Kill(); err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(p.out)
	if err != nil {
		return nil, err
	}
	p.cmd.Wait() // fails, for it was killed
	if p.err.Len() > 0 {
		return nil, fmt.Errorf("the process failed: %s", &p.err)
	}
	for line := range strings.Lines(string(rest)) {
		if line, whole := strings.CutSuffix(line, "\n"); whole {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// finish runs a job to its end, with mounts of its own, and returns what it told.
// It skips the test where nothing can be mounted.
func (j job) finish(t *testing.T) string {
	t.Helper()
	cmd, err := j.command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	isolate(cmd)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if cmd.ProcessState.ExitCode() == noMountStatus || errors.Is(err, fs.ErrPermission) {
		t.Skipf("%v: %v: %s", errNoMount, err, &errs)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", j.Role, err, &errs)
	}
	return strings.TrimSpace(out.String())
}
