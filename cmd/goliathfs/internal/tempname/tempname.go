// Package tempname names what the command writes before it is complete, so that
// what a killed run leaves behind is told from content and swept away by a later
// one.
package tempname

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
)

// A database that is being made may have files beside it.
var pattern = regexp.MustCompile(`^\.goliathfs-([0-9]+)-[0-9]+\.tmp(-wal|-shm|-journal)?$`)

// Maker makes names. It is safe for concurrent use; the zero value is ready.
type Maker struct{ n atomic.Uint64 }

// Next returns a name that no other call of this process returns, without a
// folder.
func (m *Maker) Next() string {
	return fmt.Sprintf(".goliathfs-%d-%d.tmp", os.Getpid(), m.n.Add(1))
}

// Is reports whether a name, without its folder, is one that Next returns.
func Is(name string) bool { return pattern.MatchString(name) }

// Abandoned reports whether name is of a process that has ended. What another
// machine writes to a shared folder may look so, too.
func Abandoned(name string) bool {
	m := pattern.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) || isZombie(pid)
}

// isZombie reports whether a process has ended and its parent has not yet asked
// how, which in a container may last for ever.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // not on every system
	if err != nil {
		return false
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

// Sweep removes what is abandoned directly in a folder, as far as it can.
func Sweep(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // whoever uses the folder will say so
	}
	for _, e := range entries {
		if Abandoned(e.Name()) {
			_ = os.RemoveAll(filepath.Join(folder, e.Name())) // what stays is ignored
		}
	}
}
