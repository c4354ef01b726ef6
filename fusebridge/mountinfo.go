//go:build linux

package fusebridge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mountLine is what a line of /proc/self/mountinfo says.
type mountLine struct {
	id       int
	device   string // major:minor
	dir      string
	options  string
	fsType   string
	source   string
	readOnly bool
	owner    int // number of the user who mounted it, -1 where it is not told
}

// ours reports whether the mount is one of this package.
func (m mountLine) ours() bool { return m.fsType == FSType }

// isFuse reports whether any FUSE server stands behind the mount.
func (m mountLine) isFuse() bool { return m.fsType == "fuse" || strings.HasPrefix(m.fsType, "fuse.") }

// minor returns the device's minor number, which is the number of the FUSE
// connection.
func (m mountLine) minor() string {
	_, minor, _ := strings.Cut(m.device, ":")
	return minor
}

// readMountinfo returns the mounts that this process sees, a later one above an
// earlier one of the same directory.
func readMountinfo() ([]mountLine, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("the mounts of this machine cannot be read, is /proc mounted? %w", err)
	}
	defer f.Close()
	return parseMountinfo(f)
}

// parseMountinfo reads the format of proc_pid_mountinfo(5) and passes over
// lines that are not of it.
func parseMountinfo(r io.Reader) ([]mountLine, error) {
	var lines []mountLine
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20) // overlay mounts have lines of many KiB
	for scanner.Scan() {
		before, after, ok := strings.Cut(scanner.Text(), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 6 || len(tail) < 2 {
			continue
		}
		id, err := strconv.Atoi(head[0])
		if err != nil {
			continue
		}
		m := mountLine{
			id:      id,
			device:  head[2],
			dir:     unescapeMount(head[4]),
			options: head[5],
			fsType:  tail[0],
			source:  unescapeMount(tail[1]),
		}
		m.readOnly = hasOption(m.options, "ro")
		m.owner = ownerIn(tail[2:])
		lines = append(lines, m)
	}
	return lines, scanner.Err()
}

// ownerIn finds the user in a file system's own options, which FUSE tells there.
func ownerIn(fields []string) int {
	for _, field := range fields {
		for option := range strings.SplitSeq(field, ",") {
			if value, ok := strings.CutPrefix(option, "user_id="); ok {
				if uid, err := strconv.Atoi(value); err == nil {
					return uid
				}
			}
		}
	}
	return -1
}

func hasOption(options, name string) bool {
	for option := range strings.SplitSeq(options, ",") {
		if option == name {
			return true
		}
	}
	return false
}

// unescapeMount undoes the kernel's \ooo for space, tab, newline, backslash and
// "#".
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountWatch wakes whoever waits for the mounts of this machine to change.
type mountWatch struct{ f *os.File } // nil where /proc cannot tell

// newMountWatch sees changes from now on. Close it in the end.
func newMountWatch() mountWatch {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return mountWatch{}
	}
	return mountWatch{f}
}

// wait returns at a change, and at the latest after a second.
func (w mountWatch) wait() {
	const most = time.Second
	if w.f == nil {
		time.Sleep(most)
		return
	}
	fds := []unix.PollFd{{Fd: int32(w.f.Fd()), Events: unix.POLLPRI}}
	_, _ = unix.Poll(fds, int(most.Milliseconds())) // a signal may end it early, which does no harm
}

func (w mountWatch) close() {
	if w.f != nil {
		w.f.Close()
	}
}

// topAt returns the uppermost mount at a directory.
func topAt(dir string) (mountLine, bool, error) {
	lines, err := readMountinfo()
	if err != nil {
		return mountLine{}, false, err
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].dir == dir {
			return lines[i], true, nil
		}
	}
	return mountLine{}, false, nil
}

// healthBound is how long a live server may take to answer statfs, which it
// does from memory.
const healthBound = 500 * time.Millisecond

// healthOf asks the file system at dir. Only statfs tells: with attributes
// cached, stat still succeeds on a dead mount.
func healthOf(dir string) Health {
	answer := make(chan error, 1) // the goroutine ends when the kernel answers or the mount goes
	go func() {
		var st syscall.Statfs_t
		answer <- syscall.Statfs(dir, &st)
	}()
	timer := time.NewTimer(healthBound)
	defer timer.Stop()
	select {
	case err := <-answer:
		if errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.ECONNABORTED) {
			return Dead
		}
		return Healthy
	case <-timer.C:
		return Hung
	}
}

// List returns the mounts of this package that this process can see, in order
// of mounting. It asks all of them at once, so those that hang cost half a second
// together.
func List() ([]Mounted, error) {
	lines, err := readMountinfo()
	if err != nil {
		return nil, err
	}
	var found []Mounted
	pids := servers()
	for _, m := range lines {
		if !m.ours() {
			continue
		}
		found = append(found, Mounted{
			Dir:      m.dir,
			Name:     m.source,
			ReadOnly: m.readOnly,
			PID:      pids[m.minor()],
			UID:      m.owner,
		})
	}
	var asking sync.WaitGroup
	for i := range found {
		asking.Go(func() { found[i].Health = healthOf(found[i].Dir) })
	}
	asking.Wait()
	return found, nil
}

// servers returns the process that serves each FUSE connection, as far as it can
// be known: the kernel names a device's connection in fdinfo from 6.16 on, and
// shows the files of other users' processes to root alone.
func servers() map[string]int {
	pids := map[string]int{}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != fuseDevice {
			continue
		}
		parts := strings.Split(link, "/") // "", proc, pid, fd, number
		if connection := connectionIn(filepath.Join("/proc", parts[2], "fdinfo", parts[4])); connection != "" {
			pids[connection], _ = strconv.Atoi(parts[2])
		}
	}
	return pids
}
