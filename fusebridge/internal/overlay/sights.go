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
// over it must not overwrite what an agent wrote meanwhile. The tree's lock guards them.
type sights struct {
	byPath map[string]map[uint32]*list.Element // by path and process
	order  *list.List                          // of sight, the latest in front
}

// sight is what a process saw of a path. The node stands for the revision that it was
// committed as, if it was edited here.
type sight struct {
	path    string
	process uint32
	file    *tree.File
	at      time.Duration // since the start of the system
}

// mostSights bounds the memory of them.
const mostSights = 4096

// outside is the number of all processes of other process namespaces.
const outside = 0

func newSights() *sights {
	return &sights{byPath: map[string]map[uint32]*list.Element{}, order: list.New()}
}

// see notes that a process opened a file and so knows what is in it.
func (s *sights) see(process uint32, f *tree.File) {
	if process == outside {
		return
	}
	seen := s.byPath[f.Path]
	if seen == nil {
		seen = map[uint32]*list.Element{}
		s.byPath[f.Path] = seen
	}
	if known := seen[process]; known != nil {
		s.order.Remove(known)
	}
	seen[process] = s.order.PushFront(sight{f.Path, process, f, sinceBoot()})
	if s.order.Len() > mostSights {
		s.remove(s.order.Back())
	}
}

func (s *sights) remove(at *list.Element) {
	old := s.order.Remove(at).(sight)
	seen := s.byPath[old.path]
	if delete(seen, old.process); len(seen) == 0 {
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
	for process, at := range s.byPath[path] {
		saw := at.Value.(sight)
		switch {
		case saw.file != old:
		case now == nil:
			s.remove(at)
		default:
			saw.file = now
			s.byPath[path][process].Value = saw
		}
	}
}

// last returns what a process saw last of a path, nil if nothing. It looks into the
// system only where that is another node than now.
func (s *sights) last(process uint32, path string, now *tree.File) *tree.File {
	at := s.byPath[path][process]
	if at == nil {
		return nil
	}
	if saw := at.Value.(sight); saw.file != now && saw.at >= startOf(process) {
		return saw.file
	}
	return nil
}

// startOf returns when a process started; an earlier one may have had the same number.
func startOf(process uint32) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return startIn(string(stat))
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

func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
