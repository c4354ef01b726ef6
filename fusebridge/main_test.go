//go:build linux

package fusebridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// childEnv makes the test binary a process that looks at a mount: the process
// that serves a mount must not look at it itself.
const childEnv = "FUSEBRIDGE_TEST_CHILD"

func TestMain(m *testing.M) {
	role, child := os.LookupEnv(childEnv)
	if !child {
		os.Exit(runAndLook(m))
	}
	play := roles[role]
	if play == nil { // else it would run all tests, and they their children
		fmt.Fprintf(os.Stderr, "there is no role %q\n", role)
		os.Exit(2)
	}
	play(os.Args[1:])
}

// roles are what a child process may do, with its arguments.
var roles = map[string]func(args []string){
	"append":    func(args []string) { appendUntilError(args[0]) },
	"badger":    func(args []string) { serveBadger(args[0]) },
	"drop":      func(args []string) { readAndDrop(args[0]) },
	"editing":   editAndRead,
	"elsewhere": writeElsewhere,
	"errnos":    callAll,
	"hammer":    func(args []string) { hammer(args[0]) },
	"lines":     appendLines,
	"list":      func(args []string) { listUntilEnded(args[0]) },
	"look":      func([]string) { lookOnDemand() },
	"mount":     func(args []string) { mountAndLook(args[0]) },
	"remove":    removeAndMake,
	"rename":    renameToAndFro,
	"serve":     func(args []string) { serveUntilKilled(args[0]) },
	"sync":      syncAndRead,
	"unmount":   func(args []string) { fmt.Println(fusebridge.Unmount(context.Background(), args[0], nil)) },
}

// runAndLook runs the tests in a directory for temporary files of their own and
// fails them when they leave a mount in it. Mounts elsewhere belong to others,
// such as the tests of the command, which run at the same time.
func runAndLook(m *testing.M) int {
	temp, err := os.MkdirTemp("", "bridge")
	if err == nil {
		err = errors.Join(os.Setenv("TMPDIR", temp), os.Chmod(temp, 0o755)) // other users look in too
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(temp)
	code := m.Run()
	left, _ := fusebridge.List() // elsewhere than on Linux there is none
	for _, mount := range left {
		if strings.HasPrefix(mount.Dir, temp+"/") {
			fmt.Fprintf(os.Stderr, "a test left a mount behind: %+v\n", mount)
			return 1
		}
	}
	return code
}

// needFuse skips a test, with the reason, where nothing can be mounted.
func needFuse(t testing.TB) {
	t.Helper()
	if err := fusebridge.Probe().Err; err != nil {
		t.Skipf("this machine cannot mount: %v", err)
	}
}

// needTool skips a test, with the reason, where a program is missing.
func needTool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("the program %s is not installed", name)
	}
	return path
}

func newMem(t testing.TB, files map[string]string) *memfs.FS {
	t.Helper()
	m, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// mount shows b for the time of the test and fails it if the mount stays.
func mount(t testing.TB, b vfs.Backend, opts *fusebridge.Options) *fusebridge.Server {
	t.Helper()
	needFuse(t)
	s, err := fusebridge.Mount(t.Context(), b, t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
		}
		if err := s.Wait(); err != nil {
			t.Errorf("wait: %v", err)
		}
	})
	return s
}

// run runs a program in its own process and returns its output.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := tryRun(t, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func tryRun(t testing.TB, name string, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command(needTool(t, name), args...).CombinedOutput()
	return string(out), err
}

// write replaces whatever is at path.
func write(t testing.TB, b vfs.Backend, path, content string) vfs.Info {
	t.Helper()
	old, err := vfs.Stat(t.Context(), b, path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		t.Fatal(err)
	}
	info, err := vfs.Write(t.Context(), b, path, content, old.Revision)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func remove(t testing.TB, b vfs.Backend, path string) {
	t.Helper()
	old, err := vfs.Stat(t.Context(), b, path)
	if err == nil {
		err = vfs.Remove(t.Context(), b, path, old.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// child starts the test binary in one of its other roles; it ends when its
// standard input is closed, at the latest with the test.
func child(t testing.TB, role string, args ...string) (stdin interface {
	Write([]byte) (int, error)
	Close() error
}, stdout *bufio.Reader, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stderr = os.Stderr
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
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // its status is the business of who reads its output
	})
	return in, bufio.NewReader(out), cmd
}

// looker is a child process that looks at files when told to.
type looker struct {
	t   testing.TB
	in  interface{ Write([]byte) (int, error) }
	out *bufio.Reader
	pid int
}

func newLooker(t testing.TB) *looker {
	in, out, cmd := child(t, "look")
	return &looker{t, in, out, cmd.Process.Pid}
}

// ask sends one command and returns the answer.
func (l *looker) ask(verb, path string) string {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.in, "%s %s\n", verb, path); err != nil {
		l.t.Fatal(err)
	}
	line, err := l.out.ReadString('\n')
	if err != nil {
		l.t.Fatalf("the looking process ended: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// lookOnDemand is the looker's side: "read PATH" answers the quoted content,
// "list DIR" the names, "stat PATH" inode, size, blocks and times, "xattr PATH
// NAME" a value, or each the error; "open", "edit", "empty", "type PATH TEXT", "rest",
// "map PATH SIZE", "mapped" and "close" work on a file that stays open; "start PROGRAM"
// waits for its end.
func lookOnDemand() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, path, _ := strings.Cut(in.Text(), " ")
		answer, err := look(verb, path)
		if err != nil {
			answer = "error: " + err.Error()
			var pe *fs.PathError
			if errors.As(err, &pe) {
				answer = "error: " + pe.Err.Error()
			}
		}
		fmt.Println(answer)
	}
}

// held and mappings are the looker's open and mapped files, by path.
var (
	held     = map[string]*os.File{}
	mappings = map[string][]byte{}
)

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

func look(verb, path string) (answer string, err error) {
	var text string
	if verb == "type" || verb == "xattr" || verb == "map" {
		path, text, _ = strings.Cut(path, " ")
	}
	switch verb {
	case "read":
		data, err := os.ReadFile(path)
		return fmt.Sprintf("%q", data), err
	case "list":
		return list(path)
	case "stat":
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		st := info.Sys().(*syscall.Stat_t)
		return fmt.Sprintf("ino=%d size=%d blocks=%d mtime=%d nlink=%d", st.Ino, st.Size, st.Blocks, st.Mtim.Nano(), st.Nlink), nil
	case "mode":
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		return info.Mode().String(), nil
	case "xattr":
		buf := make([]byte, 1024)
		n, err := syscall.Getxattr(path, text, buf)
		return string(buf[:max(0, n)]), err
	case "chdir":
		return "", os.Chdir(path)
	case "open":
		held[path], err = os.Open(path)
	case "edit":
		held[path], err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	case "empty":
		held[path], err = os.Create(path)
	case "start":
		err = exec.Command(path).Run()
	case "type":
		_, err = held[path].WriteString(text)
	case "rest":
		data, err := io.ReadAll(held[path])
		return fmt.Sprintf("%q", data), err
	case "map":
		mappings[path], err = syscall.Mmap(int(held[path].Fd()), 0, atoi(text), syscall.PROT_READ, syscall.MAP_PRIVATE)
	case "mapped":
		return fmt.Sprintf("%q", mappings[path]), nil
	case "close":
		err = held[path].Close()
	default:
		err = fmt.Errorf("unknown verb %q", verb)
	}
	return "", err
}

// listUntilEnded lists a directory again and again, until its standard input ends.
func listUntilEnded(dir string) {
	go func() {
		for {
			os.ReadDir(dir)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

func list(path string) (string, error) {
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return strings.Join(names, " "), err
}

// under returns a file as the mount shows it.
func under(s *fusebridge.Server, path string) string { return filepath.Join(s.Dir(), path) }
