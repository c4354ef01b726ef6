package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Label is what goliathfs.json holds.
type Label struct {
	About   string `json:"about"`
	Format  string `json:"format"`
	Version int    `json:"version"`
	// State is Making until the store has been made in full: before, it has
	// never held a file.
	State string `json:"state"`
}

const (
	Making = "making"
	Ready  = "ready"
)

const (
	LabelFile     = "goliathfs.json"
	LabelFormat   = "goliathfs-badger"
	FormatVersion = 1
)

// Survey looks what dir holds. No label and no error: nothing, so a store can be
// made there.
func Survey(dir string) (*Label, error) {
	text, err := os.ReadFile(filepath.Join(dir, LabelFile))
	if err == nil {
		return readLabel(dir, text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if info, e := os.Stat(dir); e == nil && !info.IsDir() {
			return nil, fmt.Errorf("%w: it is %s, so name a directory", ErrForeign, fileKind(dir))
		}
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(entries) == 0 || justLocked(dir, entries)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, foreign(entries)
}

// justLocked reports whether a store was about to be made in dir.
func justLocked(dir string, entries []fs.DirEntry) bool {
	for _, e := range entries {
		if e.Name() != BadgerDir && e.Name() != LabelFile+newSuffix {
			return false
		}
	}
	inside, err := os.ReadDir(filepath.Join(dir, BadgerDir))
	return err == nil && (len(inside) == 0 || len(inside) == 1 && inside[0].Name() == PIDFile)
}

// foreign says what is in a directory that has no label.
func foreign(entries []fs.DirEntry) error {
	var names []string
	for _, e := range entries {
		switch e.Name() {
		case manifestFile:
			return fmt.Errorf("%w: it is a Badger database that another program made, so name another directory", ErrForeign)
		case markFile, inventoryFile, BadgerDir:
			return BeyondRepair("%s is missing", LabelFile)
		}
		names = append(names, e.Name())
	}
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return fmt.Errorf("%w: the directory holds %s, so name an empty or a new one", ErrForeign, strings.Join(names, ", "))
}

// readLabel takes the text of the label in dir apart.
func readLabel(dir string, text []byte) (*Label, error) {
	var l Label
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, BeyondRepair("%s is unreadable (%v)", LabelFile, err)
	}
	switch {
	case l.Format != LabelFormat:
		return nil, fmt.Errorf("%w: %s says it is of format %q, so open it with the program that made it", ErrForeign, LabelFile, l.Format)
	case l.Version != FormatVersion:
		return nil, fmt.Errorf("%w: it is of version %d where this program knows %d, so open it with the program that made it", ErrFormat, l.Version, FormatVersion)
	}
	switch t, _ := readTally(dir); {
	case l.State == Ready:
		return &l, nil
	case l.State == Making && t.Commits == 0:
		return &l, nil
	}
	return nil, BeyondRepair("%s says %q, which it is not", LabelFile, l.State)
}

func fileKind(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "a file"
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err == nil && bytes.Equal(head, []byte("SQLite format 3\x00")) {
		return "a SQLite database"
	}
	return "a file"
}

// SurveyLocked is Survey for a directory in which badger/ was made to lock it.
func SurveyLocked(dir string) (*Label, error) {
	_, err := os.Lstat(filepath.Join(dir, LabelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &Label{State: Making}, nil
	}
	return Survey(dir)
}

// WriteLabel replaces the label.
func WriteLabel(dir, state string) error {
	text, err := json.MarshalIndent(Label{
		About:   "Virtual text files of goliathfs. Open with the goliathfs command (badger:DIR); copy only when it is closed, all of it.",
		Format:  LabelFormat,
		Version: FormatVersion,
		State:   state,
	}, "", "\t")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, LabelFile), append(text, '\n'))
}
