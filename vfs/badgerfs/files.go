package badgerfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The names of Badger's files that matter here.
const (
	badgerDir    = "badger"
	manifestFile = "MANIFEST"
	keysFile     = "KEYREGISTRY"
	discardFile  = "DISCARD"
	pidFile      = "LOCK"
	tableExt     = ".sst"
	valueExt     = ".vlog"
	memExt       = ".mem"

	logHeader = 20 // bytes before the first entry of a .vlog or .mem file
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
	return writeFile(filepath.Join(dir, inventoryFile), append(text, '\n'))
}

// recordFiles writes the inventory of the store as it is now.
func recordFiles(dir string, closed bool) error {
	sizes, err := badgerFiles(dir)
	if err != nil {
		return err
	}
	inv := inventory{Closed: closed, Files: map[string]int64{}}
	newest := ""
	for name := range sizes {
		if strings.HasSuffix(name, valueExt) && fileNumber(name) >= fileNumber(newest) {
			newest = name
		}
	}
	for name, size := range sizes {
		sealed := strings.HasSuffix(name, valueExt) && name != newest && size > logHeader
		if closed && name != discardFile && name != pidFile || sealed {
			inv.Files[name] = size
		}
	}
	return inv.write(dir)
}

// badgerFiles returns the length of each of Badger's files, or an error that
// matches ErrForeign when there are others.
func badgerFiles(dir string) (map[string]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, badgerDir))
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
			return nil, fmt.Errorf("%w: %s does not belong there, so move it away", ErrForeign, filepath.Join(badgerDir, e.Name()))
		}
		sizes[e.Name()] = info.Size()
	}
	return sizes, nil
}

// fileNumber returns the number in a name such as 000012.vlog, 0 for others.
func fileNumber(name string) (n int) {
	fmt.Sscanf(name, "%d", &n)
	return n
}

// writeFile replaces a file so that it has either content after a crash.
func writeFile(path string, content []byte) error {
	tmp := path + ".new"
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
		return errors.Join(err, os.Remove(tmp))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
