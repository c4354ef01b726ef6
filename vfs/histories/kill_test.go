package histories_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// process is this test binary, started again for a job.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (j job) start() (*process, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// startServer returns when the server answers.
func startServer(j job) (*process, error) {
	p, err := j.start()
	if err != nil {
		return nil, err
	}
	if _, err := p.out.ReadString('\n'); err != nil {
		return nil, errors.Join(err, p.cmd.Wait())
	}
	return p, nil
}

// kill ends a process as kill -9 does.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait() // fails, for it was killed
}

// TestKilledServer plays histories over a server that is killed and started again
// while they work.
func TestKilledServer(t *testing.T) {
	for _, kind := range []string{"badger", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			play(t, 2, load{clients: 3, steps: 60, paths: 6, hasty: 8, watchers: 5, pace: 4 * time.Millisecond}, func(t *testing.T) world {
				j := job{Role: "serve", Kind: kind, Dir: t.TempDir(), Addr: "unix:" + filepath.Join(t.TempDir(), "s")}
				p, err := startServer(j)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.kill() })
				disturb := func(context.Context) {
					for range 4 {
						<-time.After(rand.N(60 * time.Millisecond))
						p.kill()
						next, err := startServer(j)
						if err != nil {
							t.Errorf("the server does not start again: %v", err)
							return
						}
						p = next
					}
				}
				return world{client: each([]vfs.Backend{dial(t, j.Addr), dial(t, j.Addr)}), disturb: disturb}
			})
		})
	}
}
