package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/internal/txtar"
)

// ReadGolden returns the bytes of a golden file. The error of one that is not
// there matches fs.ErrNotExist and says how to write it.
func ReadGolden(path string) ([]byte, error) {
	data, err := regular.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(path)
	case err != nil:
		return nil, fmt.Errorf("the golden %s cannot be read, move it away or mend it: %w", path, reason.Of(err))
	}
	return data, nil
}

// missing is the path of a golden that is not there.
type missing string

func (m missing) Error() string {
	return fmt.Sprintf("there is no golden at %s yet, write it with an update and read it", string(m))
}

func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// NoScenario returns an error if the file at path is a scenario: with goldens
// among scenarios, an update would write over what people wrote.
func NoScenario(path string) error {
	data, err := regular.Read(path)
	if err != nil {
		return nil // there is none, or whoever reads or writes it says why not
	}
	_, sections := txtar.Split(archive.Text(data))
	for _, s := range sections {
		if s.Name == scenario.SpecName {
			return fmt.Errorf("the golden would be written over the scenario %s, choose another directory for the goldens", path)
		}
	}
	return nil
}

// WriteGolden writes a golden file and the directories above it, and reports
// whether it changed: a checkout with CRLF line ends says the same. It writes a
// temporary file beside it and renames that, so that a reader and an interrupted
// run see the old one or the new one.
func WriteGolden(path string, data []byte) (changed bool, err error) {
	if old, err := regular.Read(path); err == nil && archive.Text(old) == string(data) {
		return false, nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("the directory %s of the golden cannot be made, choose another one for the goldens: %w", dir, reason.Of(err))
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return false, fmt.Errorf("the golden %s cannot be written, look at the rights and the room of its directory: %w", path, reason.Of(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	if chmodErr := tmp.Chmod(0o644); err == nil {
		err = chmodErr
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return false, fmt.Errorf("the golden %s cannot be written, look at the rights and the room of its directory: %w", path, reason.Of(err))
	}
	return true, nil
}

// RemoveGolden removes the golden of a location, and the directories of its name
// that are then empty. What is no golden is left: someone put it there by hand.
func RemoveGolden(l Location) error {
	data, err := ReadGolden(l.Golden)
	if err == nil {
		_, err = golden.Files(data)
	}
	if err == nil {
		err = os.Remove(l.Golden)
	}
	if err != nil {
		return fmt.Errorf("%s is not removed: %w", l.Golden, err)
	}
	dir := filepath.Dir(l.Golden)
	for range strings.Count(l.Name, "/") {
		if os.Remove(dir) != nil { // it holds more
			break
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
