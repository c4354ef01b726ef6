package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A full disk does not end who serves a store with a journal there: writes are refused
// until there is room, and everything else goes on.
func TestServeJournalOnFullDisk(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
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
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
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
