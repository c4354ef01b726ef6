package remotefs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// The test binary serves a store in memory at this address when it is set.
const agentEnv = "GOLIATHFS_REMOTE_AGENT"

func TestMain(m *testing.M) {
	addr := os.Getenv(agentEnv)
	if addr == "" {
		os.Exit(m.Run())
	}
	if err := agent(addr); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func agent(addr string) error {
	b, err := memfs.New(map[string]string{"/seeded": "by the agent"}, nil)
	if err != nil {
		return err
	}
	l, err := remotefs.Listen(addr)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return remotefs.Serve(context.Background(), l, b, &remotefs.ServeOptions{Writable: true})
}

// startAgent runs an agent in another process.
func startAgent(t *testing.T, addr string) *os.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), agentEnv+"="+addr)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the agent said %q, %v", line, err)
	}
	return cmd.Process
}

// TestTimeoutOfMany: the bound of an operation holds also for those who wait until
// another one has found out that nobody lets this program in.
func TestTimeoutOfMany(t *testing.T) {
	t.Parallel()
	addr := socketAddr(t)
	process := startAgent(t, addr)
	const timeout, many = 500 * time.Millisecond, 40
	c := dial(t, addr, &remotefs.DialOptions{Timeout: timeout})
	process.Kill()
	process.Wait()
	path := strings.TrimPrefix(addr, "unix:")
	if err := remotefs.RemoveStale(path); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path) // it takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), many*timeout/2) // one after the other would take twice as long
	defer cancel()
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			if _, err := c.Read(ctx, "/seeded"); !errors.Is(err, vfs.ErrUnavailable) {
				t.Errorf("a read: %v, want one that says that the agent is away", err)
			}
		})
	}
	group.Wait()
}

// TestAgentEndsWhileDialing: an agent that ends before it has let a program in is told as
// one that is not there.
func TestAgentEndsWhileDialing(t *testing.T) {
	addr := socketAddr(t)
	l, err := net.Listen("unix", strings.TrimPrefix(addr, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := l.Accept()
		l.Close()
		if err == nil {
			conn.Read(make([]byte, 1)) // the rest is not read, so the end is a reset
			conn.Close()
		}
	}()
	_, err = remotefs.Dial(t.Context(), addr, nil)
	if !errors.Is(err, vfs.ErrUnavailable) || !strings.HasPrefix(err.Error(), "no agent answers at "+addr) {
		t.Errorf("Dial: %v", err)
	}
}

// TestKilledAgent kills the agent under many operations: each ends, in success
// or in one sentence; when it returns, operations work and the watch looks again.
func TestKilledAgent(t *testing.T) {
	addr := socketAddr(t)
	process := startAgent(t, addr)
	c := dial(t, addr, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, ended := make(chan vfs.Event, 100_000), make(chan error, 1)
	go func() { ended <- c.Watch(ctx, "/", func(e vfs.Event) { events <- e }) }()
	if e := <-events; !e.Overflow {
		t.Fatalf("the first event is %+v", e)
	}

	killUnderLoad(t, c, addr, process)
	if _, err := c.Read(t.Context(), "/seeded"); err == nil || !strings.Contains(err.Error(), "no agent answers at "+addr+", start it") {
		t.Errorf("without an agent: %v", err)
	}
	if route, err := c.Route(t.Context(), "/a"); !errors.Is(err, vfs.ErrUnavailable) || route != (vfs.Route{Prefix: "/"}) {
		t.Errorf("Route without an agent: %+v, %v", route, err)
	}

	startAgent(t, addr) // over the socket that the killed one left
	if f, err := c.Read(t.Context(), "/seeded"); err != nil || f.Content != "by the agent" {
		t.Errorf("after it returned: %+v, %v", f, err)
	}
	if route, err := c.Route(t.Context(), "/a"); err != nil || !route.Writable {
		t.Errorf("Route after it returned: %+v, %v", route, err)
	}
	if page, err := c.List(t.Context(), "/", vfs.ListOptions{}); err != nil || len(page.Files) != 1 {
		t.Errorf("a store in memory has %d files after its process, %v, want the seed", len(page.Files), err)
	}
	for timeout := time.After(patience); ; {
		select {
		case e := <-events:
			if !e.Overflow {
				continue // from before the end
			}
		case <-timeout:
			t.Fatal("the watch did not start anew")
		}
		break
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch: %v", err)
	}
}

// killUnderLoad kills the agent while many goroutines use it, and looks at how
// their operations end.
func killUnderLoad(t *testing.T, c *remotefs.Client, addr string, process *os.Process) {
	t.Helper()
	var busy sync.WaitGroup
	begun := make(chan struct{}, 64)
	for i := range 16 {
		busy.Go(func() {
			for n := 0; ; n++ {
				_, err := c.Write(t.Context(), fmt.Sprintf("/%d/%d", i, n), strings.Repeat("x", 10_000), "")
				if err == nil {
					_, err = c.List(t.Context(), "/", vfs.ListOptions{})
				}
				if err != nil {
					if vfs.Code(err) != "store" || !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), "agent at "+addr) && !strings.Contains(err.Error(), "no agent answers at "+addr) {
						t.Errorf("while the agent dies: %v", err)
					}
					return
				}
				if n == 3 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 16 {
		<-begun
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	busy.Wait()
}

// stuck is a backend that does not answer until it is let go.
type stuck struct {
	vfs.Backend
	letGo chan struct{}
}

func (s stuck) Route(context.Context, string) (vfs.Route, error) {
	<-s.letGo
	return vfs.Route{Prefix: "/"}, nil
}

// TestSilentAgent: an agent that does not answer in time is away, and back when it
// answers.
func TestSilentAgent(t *testing.T) {
	t.Parallel()
	addr := socketAddr(t)
	b := stuck{teststore.Memory(t, nil), make(chan struct{})}
	serve(t, listen(t, addr), b, nil)
	c := dial(t, addr, &remotefs.DialOptions{Timeout: 2 * time.Second})
	if _, err := c.Route(t.Context(), "/a"); !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), "did not answer within 2s") {
		t.Errorf("Route = %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Route(ctx, "/a"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, vfs.ErrUnavailable) {
		t.Errorf("Route under a context that ends = %v", err)
	}
	close(b.letGo)
	for timeout := time.After(patience); ; {
		_, err := c.Route(t.Context(), "/a")
		if err == nil {
			return
		}
		select {
		case <-timeout:
			t.Fatalf("it stays away: %v", err)
		default:
		}
	}
}

// TestServerEnds ends a server and starts another one for the same client.
func TestServerEnds(t *testing.T) {
	addr := socketAddr(t)
	b := teststore.Memory(t, map[string]string{"/a": "x"})
	stop := serve(t, listen(t, addr), b, nil)
	c := dial(t, addr, nil)
	stop()
	if _, err := c.Read(t.Context(), "/a"); err == nil || vfs.Code(err) != "store" {
		t.Errorf("after the end: %v", err)
	}
	serve(t, listen(t, addr), b, nil)
	if _, err := c.Read(t.Context(), "/a"); err != nil {
		t.Errorf("after the new start: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(t.Context(), "/a"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := c.Watch(t.Context(), "/", func(vfs.Event) {}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a watch after Close: %v", err)
	}
}
