package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// The names of Badger's files that matter here.
const (
	BadgerDir    = "badger"
	manifestFile = "MANIFEST"
	keysFile     = "KEYREGISTRY"
	discardFile  = "DISCARD"
	PIDFile      = "LOCK"
	tableExt     = ".sst"
	ValueExt     = ".vlog"
	memExt       = ".mem"

	LogHeader = 20 // bytes before the first entry of a .vlog or .mem file
)

var badgerName = regexp.MustCompile(`^([0-9]+\.(sst|vlog|mem)|MANIFEST|MANIFEST-REWRITE|KEYREGISTRY|REWRITE-KEYREGISTRY|DISCARD|LOCK)$`)

const inventoryFile = "files.json"

// inventory is what files.json holds: files that must be there, with at least
// their length.
type inventory struct {
	// Closed means that the store was closed: then Files are all of Badger's and
	// tables have exactly their length. Else Files are value logs no longer
	// written to.
	Closed bool             `json:"closed"`
	Files  map[string]int64 `json:"files"` // name in badger/ to length in bytes
}

func readInventory(dir string) (inventory, error) {
	var inv inventory
	text, err := os.ReadFile(filepath.Join(dir, inventoryFile))
	if err == nil {
		err = json.Unmarshal(text, &inv)
	}
	return inv, err
}

func (inv inventory) write(dir string) error {
	text, err := json.MarshalIndent(inv, "", "\t")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	path := filepath.Join(dir, inventoryFile)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil // replacing it would cost two syncs of the disk
	}
	return WriteFile(path, text)
}

// Files keeps the inventory of an open store. It is safe for concurrent use.
type Files struct {
	dir     string
	relaxed bool // Badger does not sync value logs

	mu      sync.Mutex
	newest  int             // number of the value log being written to; guarded by mu
	newMem  int             // number of the newest memtable; guarded by mu
	keepLog int             // older value logs may go at any time; guarded by mu
	known   map[string]bool // value logs that were listed; guarded by mu
}

// NewFiles returns the inventory of the store in dir, where Badger does not sync
// value logs when it is relaxed.
func NewFiles(dir string, relaxed bool) *Files {
	return &Files{dir: dir, relaxed: relaxed, known: map[string]bool{}}
}

// Start takes over what is known of a store that is about to be opened.
func (f *Files) Start(s Sight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range s.inventory.Files {
		f.known[name] = true
	}
	f.look(s.sizes)
	if s.inventory.Closed {
		f.newest++ // none is being written to
	}
}

// Record writes the inventory of the store as it is now.
func (f *Files) Record(closed bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.put(closed)
}

func (f *Files) put(closed bool) error {
	sizes, err := List(f.dir)
	if err != nil {
		return err
	}
	f.look(sizes)
	inv := inventory{Closed: closed, Files: map[string]int64{}}
	for name, size := range sizes {
		n := FileNumber(name)
		sealed := filepath.Ext(name) == ValueExt && f.keepLog <= n && n < f.newest && size > LogHeader
		if sealed {
			if err := f.seal(name); err != nil {
				return err
			}
		}
		if sealed || closed && name != discardFile && name != PIDFile {
			inv.Files[name] = size
		}
	}
	// Badger syncs its logs but not the directory that names them.
	if err := SyncDir(filepath.Join(f.dir, BadgerDir)); err != nil {
		return err
	}
	return inv.write(f.dir)
}

// look finds out which logs are being written to.
func (f *Files) look(sizes map[string]int64) {
	f.newest, f.newMem = 0, 0
	for name := range sizes {
		switch filepath.Ext(name) {
		case ValueExt:
			f.newest = max(f.newest, FileNumber(name))
		case memExt:
			f.newMem = max(f.newMem, FileNumber(name))
		}
	}
}

// seal syncs a value log that is about to be listed for the first time, where
// Badger has not: what the inventory promises must outlive a loss of power.
func (f *Files) seal(name string) error {
	if !f.relaxed || f.known[name] {
		return nil
	}
	log, err := os.Open(filepath.Join(f.dir, BadgerDir, name))
	if err != nil {
		return err
	}
	f.known[name] = true
	return errors.Join(log.Sync(), log.Close())
}

// Follow writes the inventory anew when Badger has begun another log.
func (f *Files) Follow() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, next := range []string{f.logPath(f.newest + 1), f.memPath(f.newMem + 1)} {
		if _, err := os.Lstat(next); err == nil {
			return f.put(false)
		}
	}
	return nil
}

// Here reports whether the logs that Badger is writing to have their names.
func (f *Files) Here() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.named() {
		return nil
	}
	sizes, err := List(f.dir)
	if err != nil {
		return err
	}
	newest := f.newest
	f.look(sizes) // Badger may have begun others
	if f.newest < newest || f.newest == 0 || f.newMem == 0 || !f.named() {
		return movedf("the files in %s are gone, they were removed or renamed", BadgerDir)
	}
	return nil
}

// named reports whether the newest logs that are known are there.
func (f *Files) named() bool {
	for _, name := range []string{f.logPath(f.newest), f.memPath(f.newMem)} {
		if _, err := os.Lstat(name); err != nil {
			return false
		}
	}
	return true
}

// Forget takes today's value logs from the inventory, before Compact may remove
// them. Badger removes a log that is in use some time later, so they do not come
// back before the store is opened again.
func (f *Files) Forget() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keepLog = f.newest + 1
	return f.put(false)
}

// RoomInLog returns about how many bytes fit in the value log being written to,
// which takes capacity in all; 0 when it holds so small a share of that, ratio, that
// what is stale in it hides no log worth a rewrite.
func (f *Files) RoomInLog(capacity int64, ratio float64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.logPath(f.newest))
	if err != nil {
		return 0
	}
	used := Allocated(info)
	if float64(used) < ratio*float64(capacity) {
		return 0
	}
	return max(0, capacity-used)
}

// NewestLog returns the number of the value log being written to.
func (f *Files) NewestLog() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}

func (f *Files) logPath(n int) string {
	return filepath.Join(f.dir, BadgerDir, fmt.Sprintf("%06d%s", n, ValueExt))
}

func (f *Files) memPath(n int) string {
	return filepath.Join(f.dir, BadgerDir, fmt.Sprintf("%05d%s", n, memExt))
}

// List returns the length of each of Badger's files, or an error that
// matches ErrForeign when there are others.
func List(dir string) (map[string]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, BadgerDir))
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger removes files whenever it likes
		}
		if err != nil {
			return nil, err
		}
		if !badgerName.MatchString(e.Name()) || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: %s does not belong there, so move it away", ErrForeign, filepath.Join(BadgerDir, e.Name()))
		}
		sizes[e.Name()] = info.Size()
	}
	return sizes, nil
}

// FileNumber returns the number in a name such as 000012.vlog, 0 for others.
func FileNumber(name string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(name, filepath.Ext(name)))
	return n
}

// newSuffix marks a file that is to replace another.
const newSuffix = ".new"

// WriteFile replaces a file so that it has either content after a crash. Its error has
// the file's name alone, for the folder may be named by a descriptor.
func WriteFile(path string, content []byte) error {
	if err := writeFile(path, content); err != nil {
		return fmt.Errorf("%s of the store cannot be written, look at the room and the rights there: %w", filepath.Base(path), reason.Of(err))
	}
	return nil
}

func writeFile(path string, content []byte) error {
	tmp := path + newSuffix
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp) // the next write does so too
		return err
	}
	return SyncDir(filepath.Dir(path))
}
