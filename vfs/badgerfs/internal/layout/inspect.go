package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Options say how a store is about to be opened.
type Options struct {
	ReadOnly, AcceptLoss, Relaxed bool
	// Commits is the key under which each commit writes its number.
	Commits []byte
	Logger  *slog.Logger
}

// Sight is what Inspect saw of a store.
type Sight struct {
	dir       string
	sizes     map[string]int64 // of Badger's files
	version   uint64           // the newest in any table
	manifest  badger.Manifest
	replayed  int64 // length of the manifest as far as it can be read
	Tally     Tally
	inventory inventory
}

// Inspect looks at every file of a store before Badger is let near it, because
// Badger throws away what it cannot read. It changes nothing.
//
// What is wrong with the format or the tables keeps Badger from opening the
// store at all; the rest AcceptLoss accepts.
func Inspect(dir string, o Options) (s Sight, err error) {
	s.dir = dir
	if s.sizes, err = List(dir); err != nil {
		return s, err
	}
	for _, look := range []func() error{func() error { return s.checkRights(o) }, s.readManifest, s.checkKeys, s.checkTables} {
		if err := look(); err != nil {
			return s, err
		}
	}
	for _, look := range []func() error{s.readNotes, s.checkInventory, s.checkManifestLength, func() error { return s.checkLogs(o) }} {
		err := look()
		if err != nil && !o.AcceptLoss {
			return s, err
		}
		if err != nil {
			o.Logger.Warn("badgerfs: opened all the same", "dir", dir, "error", err)
		}
	}
	if o.ReadOnly && s.needsRecovery() {
		return s, NeedsRecovery()
	}
	return s, nil
}

// checkRights opens each file as it will be opened later. One that may not be
// read says nothing about what is in it, so it is no damage; and Badger's own
// words for it take several lines.
func (s *Sight) checkRights(o Options) error {
	how := os.O_RDWR
	if o.ReadOnly {
		how = os.O_RDONLY
	}
	modes := map[string]int{markFile: os.O_RDONLY, inventoryFile: os.O_RDONLY}
	for name := range s.sizes {
		if name != PIDFile && (name != discardFile || !o.ReadOnly) { // these are not needed
			modes[filepath.Join(BadgerDir, name)] = how
		}
	}
	for name, how := range modes {
		f, err := os.OpenFile(filepath.Join(s.dir, name), how, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the other checks know whether it must be there
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// needsRecovery reports whether Badger would have to write to open the store.
func (s *Sight) needsRecovery() bool {
	for name, size := range s.sizes {
		if filepath.Ext(name) == memExt || filepath.Ext(name) == ValueExt && size == 0 {
			return true
		}
	}
	return false
}

// badgerVersion is the version of manifests that this Badger reads, and of the
// formats of the other files along with it.
const badgerVersion = 8

// readManifest reads which tables there are.
func (s *Sight) readManifest() error {
	f, err := os.Open(filepath.Join(s.dir, BadgerDir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return BeyondRepair("%s is missing", manifestFile)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var head [8]byte // "Bdgr", the application's version, Badger's version
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:4]) != "Bdgr" {
		return BeyondRepair("%s does not start like one", manifestFile)
	}
	if app, v := binary.BigEndian.Uint16(head[4:]), binary.BigEndian.Uint16(head[6:]); app != 0 || v != badgerVersion {
		return fmt.Errorf("%w: Badger's files are of version %d.%d where this program knows 0.%d, so open it with the program that made it", ErrFormat, app, v, badgerVersion)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err = rescue(func() error {
		s.manifest, s.replayed, err = badger.ReplayManifestFile(f, 0, badger.DefaultOptions("").WithLogger(nil))
		return err
	})
	if err != nil {
		return BeyondRepair("%s is unreadable (%v)", manifestFile, err)
	}
	return nil
}

// checkKeys looks at the key registry, which holds no key in a store of ours.
func (s *Sight) checkKeys() error {
	text, err := os.ReadFile(filepath.Join(s.dir, BadgerDir, keysFile))
	if errors.Is(err, fs.ErrNotExist) {
		return BeyondRepair("%s is missing", keysFile)
	}
	if err != nil {
		return err
	}
	const iv = 16
	if len(text) < iv || !bytes.Equal(text[iv:], []byte("Hello Badger")) {
		return BeyondRepair("%s is altered or encrypted", keysFile)
	}
	return nil
}

// checkTables looks at the tables that the manifest names.
func (s *Sight) checkTables() error {
	var total int64
	ids := slices.Sorted(maps.Keys(s.manifest.Tables))
	for _, id := range ids {
		total += s.sizes[TableName(id)]
	}
	for _, id := range ids {
		name := TableName(id)
		if s.sizes[name] == 0 {
			return BeyondRepair("the table %s is missing or empty", name)
		}
		version, err := CheckTable(filepath.Join(s.dir, BadgerDir, name), id, s.manifest.Tables[id], total <= verifyBytes)
		if err != nil {
			return BeyondRepair("the table %s is unreadable (%v)", name, err)
		}
		s.version = max(s.version, version)
	}
	return nil
}

// readNotes reads what was noted about the store beside the database.
func (s *Sight) readNotes() (err error) {
	if s.Tally, err = readTally(s.dir); err != nil {
		return damagedStore("%s: %v", markFile, err)
	}
	if s.inventory, err = readInventory(s.dir); err != nil {
		return damagedStore("%s: %v", inventoryFile, err)
	}
	return nil
}

// checkInventory compares the files with those that must be there.
func (s *Sight) checkInventory() error {
	for name, size := range s.inventory.Files {
		now, exists := s.sizes[name]
		switch {
		case !exists:
			return damagedStore("%s is missing", name)
		case now < size, now > size && filepath.Ext(name) != ValueExt: // Badger ignores what follows the last value
			return damagedStore("%s has %d bytes instead of %d", name, now, size)
		}
	}
	if !s.inventory.Closed {
		return nil
	}
	for name := range s.sizes {
		_, known := s.inventory.Files[name]
		if ext := filepath.Ext(name); !known && (ext == tableExt || ext == ValueExt || ext == memExt) {
			return damagedStore("%s was not there when it was closed", name)
		}
	}
	return nil
}

// A manifest grows with every table, until Badger rewrites it without the tables
// that are gone, for which thousands must be. Below this length it only grows.
const manifestGrows = 64 << 10

// checkManifestLength finds a manifest that was cut, which would be one that
// knows fewer tables. An entry that was only begun when power was lost is fine.
func (s *Sight) checkManifestLength() error {
	noted := s.Tally.Manifest
	if s.replayed < noted && (noted < manifestGrows || s.replayed < s.sizes[manifestFile]) {
		return damagedStore("%s has %d readable bytes instead of %d", manifestFile, s.replayed, noted)
	}
	return nil
}

// checkLogs follows the commits through the logs of memtables that were not yet
// in a table when the process ended.
func (s *Sight) checkLogs(o Options) error {
	var names []string
	for name := range s.sizes {
		if filepath.Ext(name) == memExt {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return FileNumber(a) - FileNumber(b) })
	trail := trail{tally: s.Tally, flushed: s.version, commits: o.Commits}
	for _, name := range names {
		if err := trail.follow(filepath.Join(s.dir, BadgerDir, name)); err != nil {
			return err
		}
	}
	// The tables have no count that can be seen from here, but the first
	// transaction of a store is no commit, so commit n is of version n+1 at least.
	most := max(trail.commit, max(s.version, 1)-1)
	return s.Tally.Shortage(most, o.Logger)
}

// discardLength is the least length of Badger's statistics of the value logs.
const discardLength = 1 << 20

// Prepare notes that the store is open, and removes the empty files that a
// process leaves when it is killed while it makes or removes a log, which Badger
// does not expect.
func (s *Sight) Prepare() error {
	open := inventory{Files: map[string]int64{}}
	for name, size := range s.inventory.Files {
		if filepath.Ext(name) == ValueExt && size > LogHeader { // Badger removes the others
			open.Files[name] = size
		}
	}
	if err := open.write(s.dir); err != nil {
		return err
	}
	for name, size := range s.sizes {
		ext := filepath.Ext(name)
		if size == 0 && (ext == ValueExt || ext == memExt) || name == discardFile && size < discardLength {
			err := os.Remove(filepath.Join(s.dir, BadgerDir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
