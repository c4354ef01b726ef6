package blackbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ending is how an agent ended.
type ending struct {
	status         int
	stdout, stderr string
	cut            string // what of its output is not kept, for the end of a sentence
	problem        error  // it hung, died or left processes behind
}

// grace is how long a process has to end by itself when it is told to, and how
// long those that an agent began may take to notice that it has ended.
const grace = 2 * time.Second

// runVariable marks every process that an agent begins, so that one that has left
// its group is found too.
const runVariable = "GOLIATHFS_AGENT_RUN"

// runProcess runs an agent in its folder until it ends, or ctx does, and leaves no
// process of it. An error means that it could not be started.
func runProcess(ctx context.Context, args, env []string, r *room) (*ending, error) {
	token := rand.Text()
	program, err := lookPath(args[0], env, r.values["work"])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir, cmd.Env = r.values["work"], append(env, runVariable+"="+token)
	stdout, outEnd, err := newOutput("stdout")
	if err != nil {
		return nil, err
	}
	stderr, errEnd, err := newOutput("stderr")
	if err != nil {
		_ = outEnd.Close() // err is what matters
		stdout.wait()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = outEnd, errEnd
	ownGroup(cmd)
	err = cmd.Start()
	_, _ = outEnd.Close(), errEnd.Close() // the agent has its own
	end := &ending{}
	if err == nil {
		end = await(ctx, cmd, token)
	}
	end.stdout, end.stderr = stdout.wait(), stderr.wait()
	if err != nil {
		return nil, fmt.Errorf("the agent cannot be started: %w", err)
	}
	for _, o := range []*output{stdout, stderr} {
		if cut := o.cut(); cut != "" {
			end.cut += "; " + cut
		}
	}
	return end, nil
}

// lookPath finds a program by the PATH that the agent has.
func lookPath(name string, env []string, work string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(work, name)
		}
		return name, nil
	}
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
				return found, nil
			}
		}
	}
	return "", fmt.Errorf("the agent cannot be started: there is no program %q on its PATH, install it or write its whole path", name)
}

// await waits for an agent and clears away what it leaves.
func await(ctx context.Context, cmd *exec.Cmd, token string) *ending {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	end := &ending{}
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		endGroup(cmd.Process.Pid, false)
		select {
		case <-done:
		case <-time.After(grace):
			endGroup(cmd.Process.Pid, true)
			<-done
		}
		end.problem = errHung
		if errors.Is(ctx.Err(), context.Canceled) {
			end.problem = ctx.Err()
		}
	}
	var exit *exec.ExitError
	switch {
	case end.problem != nil:
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		end.problem = fmt.Errorf("the agent died: %s", exit.ProcessState)
	case errors.As(err, &exit):
		end.status = exit.ExitCode()
	case err != nil:
		end.problem = fmt.Errorf("the agent's end cannot be told: %w", err)
	}
	if left := endLeftBehind(cmd.Process.Pid, token); left > 0 && end.problem == nil {
		end.problem = fmt.Errorf("the agent ended and left processes running (%d), which were ended: have it wait for what it begins", left)
	}
	return end
}

var errHung = errors.New("the agent had not ended in time")

// endLeftBehind waits until no process of an agent is left, ends those that do not go, and
// returns how many it had to end.
func endLeftBehind(group int, token string) int {
	deadline := time.Now().Add(grace)
	for {
		left := leftBehind(group, token)
		if len(left) == 0 {
			return 0
		}
		if time.Now().After(deadline) {
			n := len(left)
			for range 100 { // one that forks while it is looked for is found the next time
				for _, pid := range left {
					endProcess(pid)
				}
				if left = leftBehind(group, token); len(left) == 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			return n
		}
		time.Sleep(5 * time.Millisecond)
	}
}
