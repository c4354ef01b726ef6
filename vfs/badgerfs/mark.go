package badgerfs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

const markFile = "commits"

// tally is the content of the mark: what the database must hold at least.
type tally struct {
	Commits  uint64 // acknowledged
	Synced   uint64 // of these, on disk for certain
	Manifest int64  // length of Badger's MANIFEST at that time, in bytes
	Boot     string // identifies the run of the operating system, unknownBoot if unknown
}

// tallyLine has the same length for every tally, so that it is overwritten in
// place, within one sector of the disk.
const tallyLine = "commits %020d synced %020d manifest %012d boot %s\n"

// mark keeps the tally beside the database, so that a database which lost
// commits gives itself away. It is written after each commit and before the
// commit is acknowledged, by the leader of the group, and not synced: it may be
// older than the database but never newer, except that after a loss of power a
// relaxed database may be older than both.
type mark struct {
	f        *os.File // nil when the store is read-only
	manifest string   // path
	relaxed  bool
	log      *slog.Logger
	last     tally // written by the leader only
}

func readTally(dir string) (tally, error) {
	line, err := os.ReadFile(filepath.Join(dir, markFile))
	if err != nil {
		return tally{}, err
	}
	var t tally
	if _, err := fmt.Sscanf(string(line), tallyLine, &t.Commits, &t.Synced, &t.Manifest, &t.Boot); err != nil {
		return tally{}, fmt.Errorf("it is unreadable: %w", err)
	}
	return t, nil
}

// openMark prepares to write the mark of a store that holds n commits, of which
// so many were synced.
func openMark(dir string, opts Options, n, synced uint64) (*mark, error) {
	m := &mark{manifest: filepath.Join(dir, badgerDir, manifestFile), relaxed: opts.Relaxed, log: opts.Logger}
	if opts.ReadOnly {
		return m, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, markFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	m.f = f
	m.last = tally{Synced: synced, Boot: bootID()}
	m.note(n)
	if err := f.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

// note records that n commits are made. A failure costs some watchfulness, not
// the write, so it is only logged.
func (m *mark) note(n uint64) {
	m.last.Commits = n
	if !m.relaxed {
		m.last.Synced = n
	}
	if info, err := os.Stat(m.manifest); err == nil {
		m.last.Manifest = info.Size()
	}
	if err := m.put(); err != nil {
		m.log.Warn("badgerfs: the count of commits was not written", "error", err)
	}
}

// sync records that n commits are on disk.
func (m *mark) sync(n uint64) error {
	m.last.Synced = n
	m.note(n)
	return m.f.Sync()
}

func (m *mark) put() error {
	line := fmt.Appendf(nil, tallyLine, m.last.Commits, m.last.Synced, m.last.Manifest, m.last.Boot)
	_, err := m.f.WriteAt(line, 0)
	return err
}

func (m *mark) close() error {
	if m == nil || m.f == nil {
		return nil
	}
	return m.f.Close()
}

// shortage returns an error when fewer commits are there, n, than were
// acknowledged, unless they were relaxed ones and the power was lost since.
func (t tally) shortage(n uint64, log *slog.Logger) error {
	if n >= t.Commits {
		return nil
	}
	if t.excuses(n) {
		log.Warn("badgerfs: relaxed commits did not survive a loss of power", "lost", t.Commits-n, "kept", n)
		return nil
	}
	return damagedStore("%d of %d acknowledged commits are missing", t.Commits-n, t.Commits)
}

// excuses reports whether the commits after n may be missing: they were relaxed,
// and the operating system was started anew since.
func (t tally) excuses(n uint64) bool {
	return n >= t.Synced && (t.Boot != bootID() || t.Boot == unknownBoot)
}

const unknownBoot = "------------------------------------" // as long as a known one

// bootID identifies the run of the operating system: what one process of it
// wrote, synced or not, every later one can read.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if name := strings.TrimSpace(string(id)); err == nil && name != "" {
		return name
	}
	return unknownBoot
}
