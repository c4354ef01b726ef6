//go:build linux

package mountpoint

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Health says whether a mount answers.
type Health string

// The values of Health.
const (
	Healthy Health = "ok"
	Away    Health = "away" // it answers, and its store does not
	Dead    Health = "dead" // its server is gone
	Hung    Health = "hung" // its server does not answer
)

// healthBound is how long a live server may take to answer statfs, which it does
// from memory.
const healthBound = 500 * time.Millisecond

// answers reports whether the server is at work.
func (h Health) answers() bool { return h == Healthy || h == Away }

// HealthOf asks the file system at dir. Only statfs tells: with attributes cached,
// stat still succeeds on a dead mount.
func HealthOf(dir string) Health {
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
		if errors.Is(err, syscall.EHOSTDOWN) {
			return Away
		}
		return Healthy
	case <-timer.C:
		return Hung
	}
}

// Servers returns the process that serves each FUSE connection, as far as it can be
// known: the kernel names a device's connection in fdinfo from 6.16 on, and shows the
// files of other users' processes to root alone. Where several processes have a
// connection of one number, such as a server whose mount is gone and the next one, it
// is not known which.
func Servers() map[string]int {
	pids := map[string]int{}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != Device {
			continue
		}
		parts := strings.Split(link, "/") // "", proc, pid, fd, number
		pid, err := strconv.Atoi(parts[2])
		connection := connectionIn(filepath.Join("/proc", parts[2], "fdinfo", parts[4]))
		if err != nil || connection == "" {
			continue
		}
		if other, known := pids[connection]; known && other != pid {
			pid = 0
		}
		pids[connection] = pid
	}
	return pids
}
