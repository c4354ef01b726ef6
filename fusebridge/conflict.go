//go:build linux

package fusebridge

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// asides keeps the bytes of edits that could not be committed, outside the
// store, where their author finds them.
type asides struct {
	dir  string // "" means the default, found at first use
	log  *slog.Logger
	kept atomic.Uint64
}

// check reports why nothing could be kept.
func (a *asides) check() error {
	dir, err := a.folder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("set XDG_STATE_HOME, or Options.StateDir, to a folder that can be written: %w", err)
	}
	probe, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return fmt.Errorf("set XDG_STATE_HOME, or Options.StateDir, to a folder that can be written: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// keep writes data to a new file and logs where. Without a place to write to
// it logs that too: nothing happens in silence.
func (a *asides) keep(path string, data []byte, why error) {
	file, err := a.write(path, data)
	if err != nil {
		a.log.Error("an edit was refused and could not be kept", "path", path, "refused", why, "error", err)
		return
	}
	a.kept.Add(1)
	a.log.Warn("an edit was refused, what was typed is kept aside", "path", path, "refused", why, "kept", file)
}

func (a *asides) write(path string, data []byte) (string, error) {
	dir, err := a.folder()
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
		_, err = f.Write(data)
		return file, errors.Join(err, f.Sync(), f.Close())
	}
}

// folder returns where edits are kept.
func (a *asides) folder() (string, error) {
	const sub = "conflicts"
	if a.dir != "" {
		return filepath.Join(a.dir, sub), nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, fsSubtype, sub), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for refused edits: %w", err)
	}
	return filepath.Join(home, ".local", "state", fsSubtype, sub), nil
}
