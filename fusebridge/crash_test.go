//go:build linux

package fusebridge_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// serveBadger is a child that mounts the Badger store beside the mount point, for
// editing, until it is killed.
func serveBadger(dir string) {
	store, err := badgerfs.Open(context.Background(), dir+".badger", nil)
	if err == nil {
		_, err = fusebridge.Mount(context.Background(), store, dir, &fusebridge.Options{ReadWrite: true, StateDir: dir + ".state"})
	}
	fmt.Println("mounted", err)
	io.Copy(io.Discard, os.Stdin)
}

// TestKilledInTheMiddle kills the server while programs read and write. They end,
// what was acknowledged is in the store, and the next mount works.
func TestKilledInTheMiddle(t *testing.T) {
	needFuse(t)
	dir := filepath.Join(t.TempDir(), "mnt")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		_, out, server := child(t, "badger", dir)
		if line, err := out.ReadString('\n'); err != nil || line != "mounted <nil>\n" {
			t.Fatalf("round %d: the child says %q, %v", round, line, err)
		}
		acknowledged := writeUntilKilled(t, dir, round, server)
		store, err := badgerfs.Open(t.Context(), dir+".badger", nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), store, fmt.Sprintf("/log%d", round))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(f.Content)
		t.Logf("round %d: %d writes acknowledged, %d in the store", round, acknowledged, len(lines))
		if len(lines) < acknowledged {
			t.Errorf("round %d: %d writes were acknowledged, %d are there", round, acknowledged, len(lines))
		}
		for i, line := range lines {
			if line != fmt.Sprint(i) {
				t.Fatalf("round %d: line %d is %q", round, i, line)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := fusebridge.Unmount(t.Context(), dir, nil); err != nil {
		t.Error(err)
	}
}

// writeUntilKilled lets a shell append line after line, and another read, kills
// the server after some, and returns how many appends succeeded.
func writeUntilKilled(t *testing.T, dir string, round int, server *exec.Cmd) int {
	t.Helper()
	const before = 50 // acknowledged appends before the kill
	reader := exec.Command("sh", "-c", `while grep -r nothing "$0" >/dev/null 2>&1; test $? -eq 1; do :; done`, dir)
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`i=0; while echo $i >>"$0/log%d"; do echo $i; i=$((i+1)); done`, round)
	writer := exec.Command("sh", "-c", script, dir)
	acks, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	buf := make([]byte, 4096)
	for {
		n, err := acks.Read(buf)
		acknowledged += strings.Count(string(buf[:n]), "\n")
		if err != nil {
			break
		}
		if acknowledged > before {
			server.Process.Kill()
		}
	}
	server.Wait()
	writer.Wait() // both end with an error: the mount is dead
	reader.Wait()
	return acknowledged
}
