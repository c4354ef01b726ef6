//go:build linux

package fusebridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// byDesign are the calls that end otherwise than on a native file system.
var byDesign = []struct{ call, native, mount, why string }{
	{"link", "ok", "EPERM", "a file of a store has one name"},
	{"symlink", "ok", "EPERM", "a store holds texts only"},
	{"mkfifo", "ok", "EPERM", "a store holds texts only"},
	{"mknod char", "ok", "EPERM", "a store holds texts only"},
	{"exchange", "ok", "EINVAL", "a store cannot change two files in one step"},
	{"rename full", "ok", "EXDEV", "a store has no directories, so mv has to copy one with files"},
	{"noreplace full", "ok", "EXDEV", "the same"},
	{"listxattr", "ok", "ENOTSUP", "a store keeps no attributes; those of the mount show on request"},
}

// allowed reports whether a call may end otherwise than natively.
func allowed(call, mount, native string) bool {
	for _, d := range byDesign {
		if strings.HasPrefix(call, d.call+" ") && native == d.native && mount == d.mount {
			return true
		}
	}
	return false
}

// errnoCases are calls, as words: the name of the call, its paths, its flags. The
// directory has file, other, full/in, full/sub/, empty/, emptied/ and missing nothing.
func errnoCases() [][]string {
	long := strings.Repeat("n", 256)
	paths := []string{"file", "other", "full", "full/in", "full/sub", "empty", "emptied", "new", "missing/new", "file/new", long, "empty/" + long, ".", "full/.", "full/..", ""}
	var cases [][]string
	for _, call := range []string{"unlink", "rmdir", "mkdir", "mkfifo", "mknod reg", "mknod char", "truncate 0", "truncate 3", "truncate -1", "truncate max", "stat", "readlink", "chmod", "utimes", "access w", "access x", "opendir", "listxattr"} {
		for _, path := range paths {
			cases = append(cases, []string{call, path})
		}
	}
	for _, call := range []string{"rename", "noreplace", "exchange", "link", "symlink"} {
		for _, from := range paths {
			for _, to := range paths {
				cases = append(cases, []string{call, from, to})
			}
		}
	}
	for _, path := range paths {
		for _, flags := range []string{
			"O_RDONLY", "O_WRONLY", "O_RDWR", "O_RDONLY|O_TRUNC", "O_WRONLY|O_TRUNC", "O_WRONLY|O_CREAT", "O_WRONLY|O_CREAT|O_EXCL",
			"O_RDONLY|O_CREAT", "O_RDONLY|O_DIRECTORY", "O_WRONLY|O_DIRECTORY", "O_RDONLY|O_NOFOLLOW", "O_WRONLY|O_APPEND", "O_RDONLY|O_TMPFILE",
		} {
			cases = append(cases, []string{"open", path, flags})
		}
	}
	return cases
}

var openFlags = map[string]int{
	"O_RDONLY": unix.O_RDONLY, "O_WRONLY": unix.O_WRONLY, "O_RDWR": unix.O_RDWR, "O_TRUNC": unix.O_TRUNC, "O_CREAT": unix.O_CREAT, "O_EXCL": unix.O_EXCL,
	"O_DIRECTORY": unix.O_DIRECTORY, "O_NOFOLLOW": unix.O_NOFOLLOW, "O_APPEND": unix.O_APPEND, "O_TMPFILE": unix.O_TMPFILE,
}

// doCall does one call in the working directory.
func doCall(words []string) error {
	path, to := words[1], ""
	if len(words) > 2 {
		to = words[2]
	}
	switch words[0] {
	case "unlink":
		return unix.Unlink(path)
	case "rmdir":
		return unix.Rmdir(path)
	case "mkdir":
		return unix.Mkdir(path, 0o755)
	case "mkfifo":
		return unix.Mkfifo(path, 0o644)
	case "mknod reg":
		return unix.Mknod(path, unix.S_IFREG|0o644, 0)
	case "mknod char":
		return unix.Mknod(path, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3)))
	case "truncate 0":
		return unix.Truncate(path, 0)
	case "truncate 3":
		return unix.Truncate(path, 3)
	case "truncate -1":
		return unix.Truncate(path, -1)
	case "truncate max":
		return unix.Truncate(path, 1<<62)
	case "stat":
		return unix.Stat(path, new(unix.Stat_t))
	case "readlink":
		_, err := unix.Readlink(path, make([]byte, 10))
		return err
	case "chmod":
		return unix.Chmod(path, 0o755)
	case "utimes":
		return unix.Utimes(path, []unix.Timeval{{Sec: 1}, {Sec: 1}})
	case "access w":
		return unix.Access(path, unix.W_OK)
	case "access x":
		return unix.Access(path, unix.X_OK)
	case "opendir":
		return closed(unix.Open(path, unix.O_DIRECTORY, 0))
	case "listxattr":
		_, err := unix.Listxattr(path, nil)
		return err
	case "rename":
		return unix.Rename(path, to)
	case "noreplace":
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	case "exchange":
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
	case "link":
		return unix.Link(path, to)
	case "symlink":
		return unix.Symlink(path, to)
	case "open":
		flags := 0
		for name := range strings.SplitSeq(to, "|") {
			flags |= openFlags[name]
		}
		return closed(unix.Open(path, flags, 0o644))
	}
	return fmt.Errorf("there is no call %s", words[0])
}

func closed(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// looks are calls that change nothing.
var looks = map[string]bool{"stat": true, "readlink": true, "utimes": true, "access w": true, "access x": true, "opendir": true, "listxattr": true}

// callAll is a child that does each call in a directory that it makes anew where the
// call before may have changed it, and prints how each ended.
func callAll(args []string) {
	if err := os.Chdir(args[0]); err != nil {
		fmt.Println(err)
		return
	}
	ends := map[string]string{}
	changed := true
	for _, words := range errnoCases() {
		if changed {
			if err := furnish(); err != nil {
				fmt.Println(err)
				return
			}
		}
		err := doCall(words)
		changed = err == nil && !looks[words[0]]
		var errno syscall.Errno
		end := "ok"
		if errors.As(err, &errno) {
			end = unix.ErrnoName(errno)
		} else if err != nil {
			end = err.Error()
		}
		ends[strings.Join(words, " ")] = end
	}
	json.NewEncoder(os.Stdout).Encode(ends)
}

// furnish makes the working directory what the calls expect.
func furnish() error {
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	for _, dir := range []string{"full/sub", "empty", "emptied"} {
		err = errors.Join(err, os.MkdirAll(dir, 0o755))
	}
	for _, file := range []string{"file", "other", "full/in"} {
		err = errors.Join(err, os.WriteFile(file, []byte("text"), 0o644))
	}
	return err
}

// TestErrnos makes every call on the mount and on a native file system: they end alike,
// but for what is otherwise by design.
func TestErrnos(t *testing.T) {
	s := mount(t, newMem(t, nil), writable(t))
	ends := map[string]map[string]string{}
	for name, dir := range map[string]string{"mount": s.Dir(), "native": t.TempDir()} {
		_, out, _ := child(t, "errnos", dir)
		line, err := out.ReadBytes('\n')
		var told map[string]string
		if err == nil {
			err = json.Unmarshal(bytes.TrimSpace(line), &told)
		}
		if err != nil {
			t.Fatalf("%s: %v %s", name, err, line)
		}
		ends[name] = told
	}
	for call, want := range ends["native"] {
		if got := ends["mount"][call]; got != want && !allowed(call, got, want) {
			t.Errorf("%s: the mount says %s, a native file system %s", strings.ReplaceAll(call, strings.Repeat("n", 256), "long"), got, want)
		}
	}
	t.Logf("%d calls", len(ends["mount"]))
}
