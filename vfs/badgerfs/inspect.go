package badgerfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sight is what inspect saw of a store.
type sight struct {
	tally     tally
	inventory inventory
	sizes     map[string]int64 // of Badger's files
}

// inspect looks at every file of a store before Badger is let near it, because
// Badger throws away what it cannot read. It changes nothing.
func inspect(dir string, o Options) (sight, error) {
	var s sight
	var err error
	if s.sizes, err = badgerFiles(dir); err != nil {
		return s, err
	}
	if s.tally, err = readTally(dir); err != nil {
		return s, damagedStore("%s: %v", markFile, err)
	}
	if s.inventory, err = readInventory(dir); err != nil {
		return s, damagedStore("%s: %v", inventoryFile, err)
	}
	return s, nil
}

// prepare notes that the store is open, and removes the empty files that a
// process leaves when it is killed while it makes or removes a log, which Badger
// does not expect.
func (s sight) prepare(dir string) error {
	kept := inventory{Files: map[string]int64{}}
	for name, size := range s.inventory.Files {
		if filepath.Ext(name) == valueExt && size > logHeader {
			kept.Files[name] = size
		}
	}
	if err := kept.write(dir); err != nil {
		return err
	}
	for name, size := range s.sizes {
		ext := filepath.Ext(name)
		if size == 0 && (ext == valueExt || ext == memExt) {
			err := os.Remove(filepath.Join(dir, badgerDir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
