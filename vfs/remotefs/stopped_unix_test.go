//go:build unix

package remotefs_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// TestStoppedAgent gives up on an agent that hangs, within the bound.
func TestStoppedAgent(t *testing.T) {
	addr := socketAddr(t)
	process := startAgent(t, addr)
	c := dial(t, addr, &remotefs.DialOptions{Timeout: 100 * time.Millisecond})
	if err := process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(t.Context(), "/seeded")
	if err == nil || !strings.Contains(err.Error(), "did not answer within 100ms") {
		t.Errorf("a read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Write(ctx, "/a", "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a write whose context ended before: %v", err)
	}
	if _, err := remotefs.Dial(t.Context(), addr, &remotefs.DialOptions{Timeout: 100 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "does not answer") {
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
