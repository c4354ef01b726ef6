//go:build linux

package overlay

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// conflicts keeps the bytes of edits that could not be committed, outside the store,
// where their author finds them. Nothing removes them but their author; so when they
// come to the limit, no new edit is begun.
type conflicts struct {
	dir       string // "" means the default, found at first use
	limit     int64  // bytes of all of them
	log       *slog.Logger
	preserved atomic.Uint64

	mu      sync.Mutex // guards what follows, and is held while the folder is measured
	total   int64      // bytes in the folder when it was measured last
	since   int64      // bytes put there since
	reached bool       // total is at the limit
}

func newConflicts(o Options) *conflicts {
	return &conflicts{dir: o.StateDir, limit: o.ConflictBytes, log: o.Logger}
}

const folderHint = "set XDG_STATE_HOME, or Options.StateDir, to a folder that can be written"

// check reports why nothing could be kept.
func (c *conflicts) check() error {
	dir, err := c.folder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", folderHint, err)
	}
	probe, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return fmt.Errorf("%s: %w", folderHint, err)
	}
	c.mu.Lock()
	c.measure(dir)
	c.mu.Unlock()
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// full returns an error while the texts kept aside have reached the limit.
func (c *conflicts) full() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reached {
		return nil
	}
	dir, err := c.folder()
	if err != nil || !c.measure(dir) {
		return err
	}
	return fmt.Errorf("the edits kept in %s have reached %d bytes, so no new one is begun: look through them and remove what is not needed: %w", dir, c.limit, syscall.ENOSPC)
}

// measureAfter is the part of the limit after which the folder is measured again. It may
// be that of other mounts, too, and reading it at each text would take longer and longer.
const measureAfter = 16

// grew notes that a text was put into the folder.
func (c *conflicts) grew(dir string, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since += bytes; c.total+c.since >= c.limit || c.since >= c.limit/measureAfter {
		c.measure(dir)
	}
}

// measure reports whether the folder has reached the limit. The lock is held.
func (c *conflicts) measure(dir string) bool {
	total := int64(0)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
	}
	full := total >= c.limit
	if full && !c.reached {
		c.log.Warn("the edits kept aside have reached the limit: look through them and remove what is not needed, until then no new edit is begun", "folder", dir, "bytes", total, "limit", c.limit)
	}
	c.total, c.since, c.reached = total, 0, full
	return full
}

// preserve writes a text to a new file, logs where, and reports whether it could. Without
// a place to write to it logs that, too: nothing happens in silence. What is open already
// is kept beyond the limit.
func (c *conflicts) preserve(path, text string, why error) bool {
	file, err := c.writeNew(path, text)
	if err != nil {
		c.log.Error("an edit was refused and could not be kept", "path", path, "because", reason(why), "error", err)
		return false
	}
	c.preserved.Add(1)
	c.log.Warn("an edit was refused, what was typed is kept aside", "path", path, "because", reason(why), "kept", file)
	c.grew(filepath.Dir(file), int64(len(text)))
	return true
}

// reason words why an edit was refused, for who reads the log.
func reason(why error) string {
	if errors.Is(why, vfs.ErrConflict) || errors.Is(why, syscall.ESTALE) {
		return "someone else changed the file since it was read"
	}
	return why.Error()
}

func (c *conflicts) writeNew(path, text string) (string, error) {
	dir, err := c.folder()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "_")
	const longest = 200 // bytes, so that time and number fit
	if len(name) > longest {
		name = strings.ToValidUTF8(name[len(name)-longest:], "")
	}
	stamp := time.Now().UTC().Format("20060102T150405.000Z")
	for n := 1; ; n++ {
		file := filepath.Join(dir, fmt.Sprintf("%s-%d-%s", stamp, n, name))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text)
		return file, errors.Join(err, f.Sync(), f.Close())
	}
}

// folder returns where edits are kept.
func (c *conflicts) folder() (string, error) {
	const app, sub = "goliathfs", "conflicts"
	if c.dir != "" {
		return filepath.Join(c.dir, sub), nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, app, sub), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for refused edits: %w", err)
	}
	return filepath.Join(home, ".local", "state", app, sub), nil
}
