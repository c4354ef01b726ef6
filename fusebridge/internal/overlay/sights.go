//go:build linux

package overlay

import (
	"container/list"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

// sights remember what a process saw last of a path, so that it replaces that and
// nothing newer: a program that reads a file, works for a while and renames its result
// over it must not overwrite what an agent wrote meanwhile. The kernel names threads, so
// they are kept by thread, and those of a process are put together when it replaces
// something. The tree's lock guards them.
type sights struct {
	byPath map[string]map[uint32]*list.Element // by path and thread
	order  *list.List                          // of sight, the latest in front
}

// sight is what a thread saw of a path. The node stands for the revision that it was
// committed as, if it was edited here.
type sight struct {
	path   string
	thread uint32
	file   *tree.File
	at     time.Duration // since the start of the system
}

// mostSights bounds the memory of them.
const mostSights = 4096

// outside is the number of all threads of other process namespaces.
const outside = 0

func newSights() *sights {
	return &sights{byPath: map[string]map[uint32]*list.Element{}, order: list.New()}
}

// see notes that a thread opened a file and so knows what is in it.
func (s *sights) see(thread uint32, f *tree.File) {
	if thread == outside {
		return
	}
	threads := s.byPath[f.Path]
	if threads == nil {
		threads = map[uint32]*list.Element{}
		s.byPath[f.Path] = threads
	}
	if known := threads[thread]; known != nil {
		s.order.Remove(known)
	}
	threads[thread] = s.order.PushFront(sight{f.Path, thread, f, sinceBoot()})
	if s.order.Len() > mostSights {
		s.remove(s.order.Back())
	}
}

func (s *sights) remove(at *list.Element) {
	old := s.order.Remove(at).(sight)
	threads := s.byPath[old.path]
	if delete(threads, old.thread); len(threads) == 0 {
		delete(s.byPath, old.path)
	}
}

// forget drops what is known of a path.
func (s *sights) forget(path string) {
	for _, at := range s.byPath[path] {
		s.order.Remove(at)
	}
	delete(s.byPath, path)
}

// replaced notes that a process of this machine, and no agent, put another file in the
// place of one: who saw that one may replace the other, too. now is nil where nothing
// took its place.
func (s *sights) replaced(path string, old, now *tree.File) {
	for thread, at := range s.byPath[path] {
		saw := at.Value.(sight)
		switch {
		case saw.file != old:
		case now == nil:
			s.remove(at)
		default:
			saw.file = now
			s.byPath[path][thread].Value = saw
		}
	}
}

// last returns what the process of a thread saw last of a path, nil if nothing. It looks
// into the system only where some thread saw another node than now.
func (s *sights) last(thread uint32, path string, now *tree.File) *tree.File {
	other := false
	for _, at := range s.byPath[path] {
		other = other || at.Value.(sight).file != now
	}
	if !other || thread == outside {
		return nil
	}
	process, started := processOf(thread)
	var latest sight
	for member, at := range s.byPath[path] {
		saw := at.Value.(sight)
		if saw.at >= started && saw.at > latest.at && isThreadOf(process, member) {
			latest = saw
		}
	}
	return latest.file
}

// processOf returns the process of a thread and when it started; an earlier one may
// have had the same number.
func processOf(thread uint32) (process uint32, started time.Duration) {
	process = thread
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32); err == nil {
				process = uint32(n)
			}
		}
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return process, startIn(string(stat))
}

// startIn finds when a process started in the text of its stat file, as the time since
// the start of the system; 0 where that is not told.
func startIn(stat string) time.Duration {
	const (
		field = 22 - 3 // starttime, counted from the field behind the name
		ticks = 100    // a second, USER_HZ on every Linux
	)
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= field {
		return 0
	}
	n, err := strconv.ParseInt(fields[field], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second / ticks
}

func isThreadOf(process, thread uint32) bool {
	if process == thread {
		return true
	}
	_, err := os.Lstat(fmt.Sprintf("/proc/%d/task/%d", process, thread))
	return err == nil
}

func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
