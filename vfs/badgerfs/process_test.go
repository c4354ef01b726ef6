package badgerfs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// roles are what this test binary does when it is started as a child process:
// a role gets the directory of a store, and tells its parent what it did on out.
var roles = map[string]func(ctx context.Context, dir string, out io.Writer) error{
	"hold":    hold,
	"rewrite": rewrite,
	"relaxed": rewriteRelaxed,
	"seed":    seed,
	"memory":  reportMemory,
	"index":   indexForever,
}

const roleVariable = "BADGERFS_TEST_ROLE"

func TestMain(m *testing.M) {
	maps.Copy(roles, hostRoles)
	role, child := roles[os.Getenv(roleVariable)]
	if !child {
		os.Exit(m.Run())
	}
	if err := role(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a child that plays a role.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser // closing it lets the role end
	out *bufio.Scanner
}

func start(t *testing.T, role, dir string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	isolate(cmd, role)
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
	p := &process{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() { cmd.Process.Kill() })
	return p
}

// line returns the next line of the child's output.
func (p *process) line() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the child ended early: %v, %v", p.out.Err(), p.cmd.Wait())
	}
	return p.out.Text()
}

// kill ends the child with SIGKILL and returns what it wrote until then.
func (p *process) kill() (lines []string) {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	for p.out.Scan() {
		lines = append(lines, p.out.Text())
	}
	if err := p.cmd.Wait(); err == nil {
		p.t.Fatal("the child ended before it was killed")
	}
	return lines
}

// end lets the child end by itself.
func (p *process) end() {
	p.t.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatal(err)
	}
}

// hold keeps the store open until its input ends.
func hold(ctx context.Context, dir string, out io.Writer) error {
	s, err := badgerfs.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open")
	io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// seed writes the files of a JSON object from its input, then waits to be killed.
func seed(ctx context.Context, dir string, out io.Writer) error {
	s, err := badgerfs.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	var files map[string]string
	if err := in.Decode(&files); err != nil {
		return err
	}
	for path, content := range files {
		if _, err := s.Write(ctx, path, content, ""); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "seeded")
	select {}
}
