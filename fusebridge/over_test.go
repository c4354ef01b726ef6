//go:build linux

package fusebridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestDetachedInUse: a mount that someone detached is over, though a program still
// has a file of it open, and nothing of that program reaches the store any more.
func TestDetachedInUse(t *testing.T) {
	if syscall.Geteuid() != 0 {
		t.Skip("only root can call umount -l")
	}
	needFuse(t)
	mem := newMem(t, map[string]string{"/f": "old"})
	opts := writable(t)
	s, err := fusebridge.Mount(t.Context(), mem, t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	look := newLooker(t)
	look.ask("edit", under(s, "/f"))
	run(t, "umount", "-l", s.Dir())
	if err := s.Wait(); err != nil { // it hangs where the program keeps the mount alive
		t.Error(err)
	}
	typed, closed := look.ask("type", under(s, "/f")+" new"), look.ask("close", under(s, "/f"))
	if typed+closed == "" {
		t.Error("the program was not told that nothing is saved")
	}
	if got := stored(t, mem)["/f"]; got != "old" {
		t.Errorf("the store has %q", got)
	}
}

// TestNotMounted: what cannot be mounted is refused in one sentence, and leaves
// nothing behind.
func TestNotMounted(t *testing.T) {
	needFuse(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mem := newMem(t, nil)
	noState := &fusebridge.Options{ReadWrite: true, StateDir: filepath.Join(file, "state")}
	tests := []struct {
		name string
		ctx  context.Context
		b    vfs.Backend
		dir  string
		opts *fusebridge.Options
		want string
	}{
		{"a context that has ended", over, mem, t.TempDir(), nil, "not mounted: context canceled"},
		{"no backend", t.Context(), nil, t.TempDir(), nil, "no store to mount"},
		{"no directory", t.Context(), mem, "", nil, "empty name"},
		{"no place for refused edits", t.Context(), mem, t.TempDir(), noState, "could not be kept"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := fusebridge.Mount(tt.ctx, tt.b, tt.dir, tt.opts)
			if err == nil {
				t.Fatal(errors.Join(errors.New("mounted"), s.Unmount()))
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %q, want %q", err, tt.want)
			}
		})
	}
}
