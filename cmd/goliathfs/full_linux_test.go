package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// smallDisk is a file system of its own, of 2 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// fill takes all room of a disk, until the file that it returns is removed.
func fill(t *testing.T, disk string) string {
	t.Helper()
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	return ballast
}

// A token that there is no room for leaves no file, which every later start would refuse.
func TestTokenOnFullDisk(t *testing.T) {
	disk := smallDisk(t)
	ballast := fill(t, disk)
	name := filepath.Join(disk, "token")
	if err := makeToken(name); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "cannot write the token file "+name) {
		t.Errorf("on a full disk: %v", err)
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has left a file: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := makeToken(name); err != nil {
		t.Fatal(err)
	}
	first, err := remotefs.ReadToken(name)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file has the rights %v, %v", info.Mode(), err)
	}
	if err := makeToken(name); err != nil {
		t.Fatal(err)
	}
	if again, err := remotefs.ReadToken(name); err != nil || again != first {
		t.Errorf("a token that is there was replaced: %v", err)
	}
}

// A full disk does not end who serves a store with a journal there: writes are refused
// until there is room, and everything else goes on.
func TestServeJournalOnFullDisk(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	disk := smallDisk(t)
	dir, err := os.MkdirTemp("", "goliathfs-") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	agent, journal := "unix:"+filepath.Join(dir, "s"), filepath.Join(disk, "j")
	serve := exec.Command(program, "serve", "mem:", "--rw", "--socket", filepath.Join(dir, "s"), "--journal", journal)
	var said bytes.Buffer
	serve.Stderr = &said
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill() }) // it has ended before, unless the test failed
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("it does not serve: %v", err)
	}
	// A file's worth of text that does not fit into what room the journal has.
	text := strings.Repeat("some text\n", 80_000)
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Stdin = strings.NewReader(stdin)
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	if out, err := run("small\n", "write", agent, "/small"); err != nil {
		t.Fatal(out, err)
	}
	ballast := fill(t, disk)
	want := "nothing was changed in the store: the disk of the journal is full, make room there"
	if out, err := run(text, "write", agent, "/big"); err == nil || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
		t.Errorf("a write to a full disk: %v, %q", err, out)
	}
	if out, err := run("", "ls", agent); err != nil || out != "/small\n" {
		t.Errorf("a list: %v, %q", err, out)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if out, err := run(text, "write", agent, "/big"); err != nil {
		t.Errorf("a write when there is room again: %v, %q", err, out)
	}
	if err := serve.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, &said)
	}
	if text := said.String(); !strings.Contains(text, journal+": the disk of the journal is full, make room there") || !strings.Contains(text, journal+": there is room again") {
		t.Errorf("it said %q", text)
	}
	if out, err := run("", "log", journal); err != nil || !strings.Contains(out, "/big") || !strings.Contains(out, "/small") {
		t.Errorf("the journal has %q, %v", out, err)
	}
}
