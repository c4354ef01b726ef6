//go:build linux

package mountpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holder is a process that keeps a mount busy.
type holder struct {
	pid  int
	name string // of its program
	how  string // such as "its working directory is /mnt/notes"
}

// holdersOf looks in /proc for processes that sit in dir, have files below it
// open or mapped. It sees only what the user may see, and touches nothing in the
// mount, which may hang.
func holdersOf(dir string) []holder {
	var holders []holder
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil {
			continue
		}
		if how := holds(proc, dir); how != "" {
			comm, _ := os.ReadFile(filepath.Join(proc, "comm"))
			holders = append(holders, holder{pid, strings.TrimSpace(string(comm)), how})
		}
	}
	slices.SortFunc(holders, func(a, b holder) int { return a.pid - b.pid })
	return holders
}

func holds(proc, dir string) string {
	for _, link := range []struct{ name, as string }{
		{"cwd", "its working directory is"}, {"root", "its root is"}, {"exe", "it runs"},
	} {
		if to, err := os.Readlink(filepath.Join(proc, link.name)); err == nil && below(to, dir) {
			return link.as + " " + to
		}
	}
	fds, _ := filepath.Glob(filepath.Join(proc, "fd", "*"))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && below(to, dir) {
			return "it has open " + to
		}
	}
	maps, _ := os.ReadFile(filepath.Join(proc, "maps"))
	for line := range strings.Lines(string(maps)) {
		if i := strings.IndexByte(line, '/'); i >= 0 && below(strings.TrimSpace(line[i:]), dir) {
			return "it maps " + strings.TrimSpace(line[i:])
		}
	}
	return ""
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
