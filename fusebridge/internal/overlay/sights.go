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
	lost   time.Duration                       // when the latest of those was had that are not remembered any more
}

// sight is what a process saw of a path. The node stands for the revision that it was
// committed as, if it was edited here.
type sight struct {
	path    string
	process uint32
	file    *tree.File    // nil where it may replace whatever is there
	at      time.Duration // since the start of the system
}

// mostSights bounds the memory of them.
const mostSights = 4096

// outside is the number of all processes of other process namespaces.
const outside = 0

func newSights() *sights {
	return &sights{byPath: map[string]map[uint32]*list.Element{}, order: list.New()}
}

// see notes that a process opened or wrote a file and so knows what is in it.
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
		s.lose(s.order.Back())
	}
}

func (s *sights) lose(at *list.Element) {
	old := s.order.Remove(at).(sight)
	s.lost = old.at
	seen := s.byPath[old.path]
	if delete(seen, old.process); len(seen) == 0 {
		delete(s.byPath, old.path)
	}
}

// told notes that a process was refused, as what it saw of a path is old. It may insist,
// and so may others.
func (s *sights) told(path string) {
	for _, at := range s.byPath[path] {
		at.Value = at.Value.(sight).of(nil)
	}
}

// replaced notes that a process of this machine, and no agent, put another file in the
// place of one: who saw that one may replace the other, too. now is nil where nothing
// took its place.
func (s *sights) replaced(path string, old, now *tree.File) {
	for _, at := range s.byPath[path] {
		if saw := at.Value.(sight); saw.file != nil && saw.file == old {
			at.Value = saw.of(now)
		}
	}
}

// of is the sight of another file.
func (s sight) of(f *tree.File) sight {
	s.file = f
	return s
}

// last returns what a process saw last of a path, nil if nothing that is another node than
// now. It looks into the system only where the answer depends on that. Where it may be
// lost, age is how long the process has run; else it is 0.
func (s *sights) last(process uint32, path string, now *tree.File) (saw *tree.File, age time.Duration) {
	if process == outside {
		return nil, 0
	}
	at := s.byPath[path][process]
	switch {
	case at == nil && s.lost == 0:
		return nil, 0
	case at == nil:
		if start := startOf(process); start <= s.lost {
			age = sinceBoot() - start
		}
		return nil, age
	}
	if saw := at.Value.(sight); saw.file != nil && saw.file != now && saw.at >= startOf(process) {
		return saw.file, 0
	}
	return nil, 0
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
