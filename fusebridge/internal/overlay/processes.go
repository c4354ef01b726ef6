//go:build linux

package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// processes tell which process a thread belongs to: the kernel names threads, and one
// that read a file may have ended when another writes it. The system is asked once a
// second for a thread, in which its number is not given to another one. They are safe for
// concurrent use.
type processes struct {
	mu    sync.Mutex
	known map[uint32]member // by thread
}

type member struct {
	process uint32
	asked   time.Duration // since the start of the system
}

const (
	mostThreads = 1024 // remembered
	sureFor     = time.Second
)

// of returns the process of a thread that waits for an answer, so that it is there.
func (p *processes) of(thread uint32) uint32 {
	if thread == outside {
		return outside
	}
	now := sinceBoot()
	p.mu.Lock()
	m, known := p.known[thread]
	p.mu.Unlock()
	if known && now-m.asked < sureFor {
		return m.process
	}
	m = member{processOf(thread), now}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= mostThreads {
		p.known = map[uint32]member{}
	}
	p.known[thread] = m
	return m.process
}

// processOf asks the system. It returns the thread itself where that is not told.
func processOf(thread uint32) uint32 {
	if process, ok := statusOf(thread, "Tgid:"); ok {
		return process
	}
	return thread
}

// parentOf asks the system for the process that started a thread's. It returns outside
// where that is not told.
func parentOf(thread uint32) uint32 {
	parent, _ := statusOf(thread, "PPid:")
	return parent
}

// childrenOf asks the system for the processes that a thread's process started.
func childrenOf(thread uint32) (children []string) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", thread))
	for _, list := range lists {
		numbers, _ := os.ReadFile(list)
		children = append(children, strings.Fields(string(numbers))...)
	}
	return children
}

// statusOf returns a number of the status of a thread.
func statusOf(thread uint32, key string) (number uint32, ok bool) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			return uint32(n), err == nil
		}
	}
	return 0, false
}
