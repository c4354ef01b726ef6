package layout

import (
	"errors"
	"fmt"
	"os"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
)

// verifyBytes is how much of tables is read in full when a store is opened. It
// takes a few milliseconds; of a larger store only the indexes are read, and
// Check does the rest.
const verifyBytes = 32 << 20

// maxLevels is Badger's number of levels.
const maxLevels = 7

// TableName returns the name of a table in badger/.
func TableName(id uint64) string { return table.IDToFilename(id) }

// CheckTable looks whether Badger can read a table: its index, and with full
// every block of it. Badger itself ends the process over some of what this finds.
// It returns the newest version in the table.
func CheckTable(path string, id uint64, tm badger.TableManifest, full bool) (version uint64, err error) {
	switch {
	case int(tm.Level) >= maxLevels:
		return 0, fmt.Errorf("it is on level %d", tm.Level)
	case tm.KeyID != 0:
		return 0, errors.New("it is encrypted")
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	data, err := z.Mmap(f, false, info.Size())
	if err != nil {
		return 0, err
	}
	opts := &table.Options{Compression: tm.Compression, BlockSize: 4096}
	err = rescue(func() error {
		t, err := table.OpenInMemoryTable(data, id, opts)
		if err != nil {
			return err
		}
		version = t.MaxVersion()
		if !full {
			return nil
		}
		return t.VerifyChecksum()
	})
	return version, errors.Join(err, z.Munmap(data))
}
