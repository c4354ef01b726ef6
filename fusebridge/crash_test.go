//go:build linux

package fusebridge_test

import (
	"context"
	"errors"
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

// beforeKill is how many appends are acknowledged before the server is killed.
const beforeKill = 50

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
		if acknowledged < beforeKill {
			t.Errorf("round %d: the writer ended after %d writes, before the kill", round, acknowledged)
		}
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

// appendUntilError is a child that appends numbered lines to a file, each in an
// opening of its own, and prints the number of each whose close succeeded. A
// shell would not do: it ignores what close says.
func appendUntilError(file string) {
	for i := 0; ; i++ {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err == nil {
			_, err = fmt.Fprintln(f, i)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return
		}
		fmt.Println(i)
	}
}

// writeUntilKilled lets a child append line after line, and another program read,
// kills the server after some, and returns how many appends succeeded.
func writeUntilKilled(t *testing.T, dir string, round int, server *exec.Cmd) int {
	t.Helper()
	reader := exec.Command("sh", "-c", `while grep -r nothing "$0" >/dev/null 2>&1; test $? -eq 1; do :; done`, dir)
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	_, acks, writer := child(t, "append", filepath.Join(dir, fmt.Sprintf("log%d", round)))
	acknowledged := 0
	for {
		if _, err := acks.ReadString('\n'); err != nil {
			break
		}
		if acknowledged++; acknowledged == beforeKill {
			server.Process.Kill()
		}
	}
	server.Wait()
	writer.Wait() // it ends at its first error: the mount is dead
	reader.Wait()
	return acknowledged
}
