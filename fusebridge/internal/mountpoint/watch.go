//go:build linux

package mountpoint

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Watch wakes whoever waits for the mounts of this machine to change. Wake is safe for
// use while another goroutine waits, and after Close.
type Watch struct {
	mounts *os.File // nil where /proc cannot tell
	woke   *os.File // nil where there is no pipe, as when too many files are open

	mu   sync.Mutex
	wake *os.File // the other end of woke; nil once it was used
}

// NewWatch sees changes from now on. Close it in the end.
func NewWatch() *Watch {
	w := &Watch{}
	if woke, wake, err := os.Pipe(); err == nil {
		w.woke, w.wake = woke, wake
	}
	if mounts, err := os.Open("/proc/self/mountinfo"); err == nil {
		w.mounts = mounts
	}
	return w
}

// Wait returns at a change, when it is woken, and at the latest after a second.
func (w *Watch) Wait() {
	const most = time.Second
	var fds []unix.PollFd
	if w.woke != nil {
		fds = append(fds, unix.PollFd{Fd: int32(w.woke.Fd()), Events: unix.POLLIN})
	}
	if w.mounts != nil {
		fds = append(fds, unix.PollFd{Fd: int32(w.mounts.Fd()), Events: unix.POLLPRI})
	}
	_, _ = unix.Poll(fds, int(most.Milliseconds())) // a signal may end it early, which does no harm
}

// Wake lets Wait return, now and from now on.
func (w *Watch) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wake != nil {
		w.wake.Close()
		w.wake = nil
	}
}

// Close frees the watch, once no one waits.
func (w *Watch) Close() {
	w.Wake()
	for _, f := range []*os.File{w.woke, w.mounts} {
		if f != nil {
			f.Close()
		}
	}
}
