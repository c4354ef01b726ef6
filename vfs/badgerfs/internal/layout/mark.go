package layout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

const markFile = "commits"

// Tally is the content of the mark: what the database must hold at least.
type Tally struct {
	Commits  uint64 // acknowledged
	Synced   uint64 // of these, on disk for certain
	Manifest int64  // length of Badger's MANIFEST at that time, in bytes
	Boot     string // identifies the run of the operating system, unknownBoot if unknown
}

// tallyLine has the same length for every tally, so that it is overwritten in
// place, within one sector of the disk.
const tallyLine = "commits %020d synced %020d manifest %012d boot %s\n"

// Mark keeps the tally beside the database, so that a database which lost
// commits gives itself away. It is written after each commit and before the
// commit is acknowledged, by the leader of the group, and not synced: it may be
// older than the database but never newer, except that after a loss of power a
// relaxed database may be older than both.
type Mark struct {
	f        *os.File // nil when the store is read-only
	file     string   // its name
	info     os.FileInfo
	written  []byte // its content
	manifest string // path
	relaxed  bool
	log      *slog.Logger
	last     Tally // written by the leader only
}

func readTally(dir string) (Tally, error) {
	line, err := os.ReadFile(filepath.Join(dir, markFile))
	if err != nil {
		return Tally{}, err
	}
	var t Tally
	if _, err := fmt.Sscanf(string(line), tallyLine, &t.Commits, &t.Synced, &t.Manifest, &t.Boot); err != nil {
		return Tally{}, fmt.Errorf("it is unreadable: %w", err)
	}
	return t, nil
}

// OpenMark prepares to write the mark of a store that holds n commits, of which
// so many were synced.
func OpenMark(home *Home, opts Options, n, synced uint64) (*Mark, error) {
	dir := home.Path()
	m := &Mark{manifest: filepath.Join(dir, BadgerDir, manifestFile), relaxed: opts.Relaxed, log: opts.Logger}
	if opts.ReadOnly {
		return m, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, markFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	m.f, m.file = f, filepath.Join(home.dir.Name(), markFile)
	if m.info, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	m.last = Tally{Synced: synced, Boot: bootID()}
	m.Note(n)
	if err := f.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

// Note records that n commits are made. A failure costs some watchfulness, not
// the write, so it is only logged.
func (m *Mark) Note(n uint64) {
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

// Sync records that n commits are on disk.
func (m *Mark) Sync(n uint64) error {
	m.last.Synced = n
	m.Note(n)
	return m.f.Sync()
}

func (m *Mark) put() error {
	line := m.last.line()
	_, err := m.f.WriteAt(line, 0)
	if err == nil {
		m.written = line
	}
	return err
}

func (t Tally) line() []byte {
	return fmt.Appendf(nil, tallyLine, t.Commits, t.Synced, t.Manifest, t.Boot)
}

// Here reports whether the mark is at its name and as it was written last: a store
// that was copied over this one, file by file, brings a mark of its own.
func (m *Mark) Here() error {
	if err := sameAs(m.file, m.info); err != nil {
		return err
	}
	found := make([]byte, len(m.written)+1)
	n, err := m.f.ReadAt(found, 0)
	if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(found[:n], m.written) {
		return movedf("another store was copied over %s", filepath.Dir(m.file))
	}
	return nil
}

// Close ends it; m may be nil.
func (m *Mark) Close() error {
	if m == nil || m.f == nil {
		return nil
	}
	return m.f.Close()
}

// Shortage returns an error when fewer commits are there, n, than were
// acknowledged, unless they were relaxed ones and the power was lost since.
func (t Tally) Shortage(n uint64, log *slog.Logger) error {
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
func (t Tally) excuses(n uint64) bool {
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
