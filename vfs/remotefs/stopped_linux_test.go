package remotefs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// awaitStopped returns when every thread of a process is stopped, which is later
// than the signal.
func awaitStopped(t *testing.T, pid int) {
	t.Helper()
	for late := time.After(patience); ; {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(threads) == 0 {
			t.Fatalf("no threads of process %d: %v", pid, err)
		}
		running := slices.ContainsFunc(threads, func(file string) bool {
			stat, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				return false // it ended
			}
			_, state, _ := strings.Cut(string(stat), ") ")
			return !strings.HasPrefix(state, "T")
		})
		if !running {
			return
		}
		select {
		case <-late:
			t.Fatal("the agent does not stop")
		default:
		}
	}
}

// TestStoppedAgent gives up on an agent that hangs, within the bound.
func TestStoppedAgent(t *testing.T) {
	t.Parallel()
	addr := socketAddr(t)
	process := startAgent(t, addr)
	c := dial(t, addr, &remotefs.DialOptions{Timeout: 2 * time.Second})
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitStopped(t, process.Pid)
	_, err := c.Read(t.Context(), "/seeded")
	if err == nil || !strings.Contains(err.Error(), "did not answer within 2s") {
		t.Errorf("a read: %v", err)
	}
	const unknown = "whether it was done is not known"
	if _, err := c.Write(t.Context(), "/late", "", ""); !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), unknown) {
		t.Errorf("a write: %v", err)
	}
	if err := c.Remove(t.Context(), "/late", "r"); !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), unknown) {
		t.Errorf("a remove: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Write(ctx, "/a", "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a write whose context ended before: %v", err)
	}
	if _, err := remotefs.Dial(t.Context(), addr, &remotefs.DialOptions{Timeout: 2 * time.Second}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a new client: %v", err)
	}
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for _, err := c.Read(t.Context(), "/seeded"); err != nil; _, err = c.Read(t.Context(), "/seeded") {
		if time.Now().After(deadline) {
			t.Fatalf("after it went on: %v", err)
		}
	}
}
