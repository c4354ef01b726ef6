package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/internal/testsize"
)

// TestMachines mounts one namespace on two machines, which are network namespaces that
// reach the server over TCP alone, while an agent on a third writes one file over and
// over. Each mount shows every state whole, and none older than one it has shown. How
// long after a write that is, is printed.
func TestMachines(t *testing.T) {
	writes := testsize.Pick(0, 0, 2000)
	if writes == 0 {
		t.Skip("without GOLIATHFS_FULL: it makes three network namespaces and a server")
	}
	if err := fusebridge.Probe().Err; err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("nsenter"); err != nil || os.Getuid() != 0 {
		t.Skip("machines are network namespaces, which need root and nsenter")
	}
	machines := makeMachines(t, 3)
	url := serveMachines(t, machines)
	self := asCommand(t)
	agent := newFarAgent(t, machines[2].command(t, self, "call", "--store", url, "--allow-writes", "--jsonl"))
	rev := agent.write(t, "", text(0))

	var readers []*farReader
	for _, m := range machines[:2] {
		dir := t.TempDir()
		mount := m.command(t, self, "mount", url, dir)
		out, err := mount.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := mount.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := fusebridge.Unmount(context.Background(), dir, nil); err != nil {
				t.Error(err)
			}
			_ = mount.Wait()
		})
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("the mount is not ready: %v", err)
		}
		readers = append(readers, &farReader{file: filepath.Join(dir, "hot.md")})
	}
	var delays []time.Duration
	for i := 1; i <= writes; i++ {
		var seeing sync.WaitGroup
		seen := make([]time.Time, len(readers))
		for k, r := range readers {
			seeing.Go(func() { seen[k] = r.await(t, i) })
		}
		rev = agent.write(t, rev, text(i))
		written := time.Now()
		seeing.Wait()
		for _, at := range seen {
			delays = append(delays, max(0, at.Sub(written)))
		}
	}
	slices.Sort(delays)
	at := func(share float64) time.Duration { return delays[int(share*float64(len(delays)-1))] }
	stale, torn, reads := 0, 0, 0
	for _, r := range readers {
		stale, torn, reads = stale+r.stale, torn+r.torn, reads+r.reads
	}
	t.Logf("%d writes seen on 2 machines after the write returned: p50 %v, p99 %v, last %v; of %d reads %d stale, %d torn",
		writes, at(0.5), at(0.99), delays[len(delays)-1], reads, stale, torn)
	if stale > 0 || torn > 0 {
		t.Errorf("%d reads showed an older state than one before, %d a mixture", stale, torn)
	}
}

// text is the n-th state of the file, of which a mixture would be known.
func text(n int) string { return strings.Repeat(fmt.Sprintf("%08d\n", n), 1000) }

// farReader reads a file through one mount.
type farReader struct {
	file               string
	last               int // the newest state that it has seen
	reads, stale, torn int
}

// await reads until the n-th state shows, and once more, and returns when that was.
func (r *farReader) await(t *testing.T, n int) time.Time {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); r.last < n; <-tick.C {
		r.read(t)
		if time.Now().After(deadline) {
			t.Errorf("%s does not show state %d", r.file, n)
			return deadline
		}
	}
	at := time.Now()
	r.read(t)
	return at
}

func (r *farReader) read(t *testing.T) {
	data, err := os.ReadFile(r.file)
	if err != nil {
		t.Error(err)
		return
	}
	r.reads++
	n := 0
	_, err = fmt.Sscanf(string(data[:min(len(data), 8)]), "%d", &n)
	switch {
	case err != nil || string(data) != text(n):
		r.torn++
	case n < r.last:
		r.stale++
	}
	r.last = max(r.last, n)
}

// machine is a network namespace with one link to this one.
type machine struct{ name, host string }

// makeMachines makes n of them, and takes them away at the end.
func makeMachines(t *testing.T, n int) []machine {
	t.Helper()
	var made []machine
	for i := range n {
		m := machine{fmt.Sprintf("goliath%d-%d", os.Getpid()%100000, i), fmt.Sprintf("10.197.%d.%d", os.Getpid()%250, 4*i+1)}
		link, inside := fmt.Sprintf("gh%d-%d", os.Getpid()%100000, i), fmt.Sprintf("gn%d-%d", os.Getpid()%100000, i)
		if out, err := exec.CommandContext(t.Context(), "ip", "netns", "add", m.name).CombinedOutput(); err != nil {
			t.Skipf("network namespaces cannot be made here: %v: %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", m.name).Run() })
		for _, words := range [][]string{
			{"ip", "link", "add", link, "type", "veth", "peer", "name", inside},
			{"ip", "link", "set", inside, "netns", m.name},
			{"ip", "addr", "add", m.host + "/30", "dev", link},
			{"ip", "link", "set", link, "up"},
			{"ip", "-n", m.name, "addr", "add", fmt.Sprintf("10.197.%d.%d/30", os.Getpid()%250, 4*i+2), "dev", inside},
			{"ip", "-n", m.name, "link", "set", inside, "up"},
		} {
			if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Skipf("network namespaces cannot be linked here: %q: %v: %s", words, err, out)
			}
		}
		made = append(made, m)
	}
	return made
}

// command runs a program on the machine; files and mounts are those of this one.
func (m machine) command(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{"--net=/run/netns/" + m.name, name}, args...)...)
	cmd.Env = append(os.Environ(), "PGSSLMODE=disable", "PGHOST=", "PGUSER=")
	cmd.Stderr = t.Output()
	for i, arg := range cmd.Args { // each reaches the server at its own end of the link
		cmd.Args[i] = strings.ReplaceAll(arg, "HOST", m.host)
	}
	return cmd
}

// serveMachines starts a server that listens on the links alone. HOST in the URL is for
// the machine's end of its.
func serveMachines(t *testing.T, machines []machine) (url string) {
	t.Helper()
	var hosts []string
	for _, m := range machines {
		hosts = append(hosts, m.host)
	}
	c, err := pgcluster.StartOwn(t.Context(), &pgcluster.Options{Settings: []string{"listen_addresses=" + strings.Join(hosts, ",")}})
	if errors.Is(err, pgcluster.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	rules, err := os.OpenFile(filepath.Join(filepath.Dir(c.Socket()), "data", "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rules.Close()
	if _, err := rules.WriteString("host all all 10.197.0.0/16 trust\n"); err != nil {
		t.Fatal(err)
	}
	if err := execute(c.URL(), "select pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	return "postgres://goliath@HOST/postgres"
}

// asCommand returns a name under which this test binary is the command.
func asCommand(t *testing.T) string {
	t.Helper()
	self, err := exec.LookPath("goliathfs") // which testscript has put there
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// farAgent is an agent on a machine, which writes by tool calls.
type farAgent struct {
	in  io.Writer
	out *bufio.Reader
}

func newFarAgent(t *testing.T, cmd *exec.Cmd) *farAgent {
	t.Helper()
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
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the agent: %v", err)
		}
	})
	return &farAgent{in, bufio.NewReader(out)}
}

// write replaces the file at a revision, "" for none, and returns the new one.
func (a *farAgent) write(t *testing.T, revision, content string) string {
	t.Helper()
	input := map[string]string{"path": "/hot.md", "content": content}
	if revision != "" {
		input["revision"] = revision
	}
	request, err := json.Marshal(map[string]any{"tool": "writeFile", "input": input})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.in.Write(append(request, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := a.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Pages []struct{ Output struct{ Revision string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil || len(answer.Pages) != 1 {
		t.Fatalf("the agent says %s", line)
	}
	return answer.Pages[0].Output.Revision
}
