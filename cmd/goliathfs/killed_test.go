//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killedStore makes a Badger store in dir whose writer is killed after it has
// acknowledged one file, /kept.md.
func killedStore(t *testing.T, program, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "call", "--jsonl", "--allow-writes", "--store", "badger:"+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(`{"tool":"writeFile","input":{"path":"/kept.md","content":"kept"}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"ok":true`) {
		t.Errorf("the write is answered with %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// bytesIn returns every file below dir with its content.
func bytesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLookIntoKilledStore: a verb that only looks takes in what a killed writer has left
// where it may, and says so once; where it may not, it says what is to be done and
// changes no byte.
func TestLookIntoKilledStore(t *testing.T) {
	dir, err := os.MkdirTemp("", "goliathfs-") // other users must come through to it
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "store")
	t.Cleanup(func() {
		_ = os.Chmod(store, 0o700)
		os.RemoveAll(dir)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "goliathfs")
	if err := os.Link(self, program); err != nil { // on another file system
		data, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(program, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	killedStore(t, program, store)
	look := func(other bool) (status int, out, said string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, "ls", "badger:"+store)
		if other && os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		cmd.Dir, cmd.Env = "/", append(os.Environ(), "HOME=/nonexistent")
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), o.String(), e.String()
	}

	if err := forAll(dir, store); err != nil {
		t.Fatal(err)
	}
	before := bytesIn(t, store)
	status, out, said := look(true)
	if status != exitRefused || out != "" || strings.Count(said, "\n") != 1 || !strings.HasSuffix(said, "which this user may not: have its owner look at it with goliathfs ls badger:"+store+"\n") {
		t.Errorf("who may not write to it sees %q, %q, status %d", out, said, status)
	}
	if diff := cmp.Diff(before, bytesIn(t, store)); diff != "" {
		t.Errorf("the store was changed by who may not:\n%s", diff)
	}

	if err := os.Chmod(store, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, 0o755)
		} else if err == nil {
			err = os.Chmod(name, 0o644)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	status, out, said = look(false)
	if status != exitDone || out != "/kept.md\n" || !strings.Contains(said, "was killed, so it was opened for writing once") || strings.Count(said, "\n") != 1 {
		t.Errorf("its owner sees %q, %q, status %d", out, said, status)
	}
	if status, out, said = look(false); status != exitDone || out != "/kept.md\n" || said != "" {
		t.Errorf("its owner sees then %q, %q, status %d", out, said, status)
	}
}

// forAll lets everyone look into a store, and no one but root write to it.
func forAll(dir, store string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	var dirs []string
	err := filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			dirs = append(dirs, name)
			return err
		}
		return os.Chmod(name, 0o444)
	})
	for _, name := range dirs {
		if err == nil {
			err = os.Chmod(name, 0o555)
		}
	}
	return err
}
