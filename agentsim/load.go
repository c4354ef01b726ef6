package agentsim

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The names inside a scenario's archive.
const (
	specName   = "scenario.yaml"
	seedPrefix = "files/"
)

// Load reads the scenario in the file at path. The YAML is read strictly: an
// unknown name, a value of the wrong type or one that is not among the allowed
// ones is an error that names file, line, column and what is allowed. The
// scenario's Name is area/name as Find would give it.
func Load(path string) (*Scenario, error) {
	loc := locate(path)
	return loc.Load()
}

// Load reads the scenario at the location.
func (l Location) Load() (*Scenario, error) {
	data, err := os.ReadFile(l.Path)
	if err != nil {
		return nil, fmt.Errorf("the scenario cannot be read: %w", err)
	}
	return Parse(l.Path, l.Name, data)
}

// Parse reads a scenario from memory. The file is named in errors only.
func Parse(file, name string, data []byte) (*Scenario, error) {
	comment, sections := archive.Split(strings.TrimPrefix(string(archive.UndoCRLF(data)), "\ufeff")) // some editors begin a file with U+FEFF
	sc := &Scenario{Path: file, Name: name, Description: strings.TrimSpace(comment), seeds: map[string]string{}}
	found := false
	for _, s := range sections {
		pos := strictyaml.Pos{File: file, Line: s.Line - 1, Column: 1}
		switch path, isSeed := strings.CutPrefix(s.Name, seedPrefix); {
		case s.Name == specName && found:
			return nil, pos.Errorf("%s is given twice, keep one", specName)
		case s.Name == specName:
			found = true
			if err := strictyaml.Decode(file, s.Line, []byte(s.Text), &sc.spec); err != nil {
				return nil, err
			}
		case isSeed:
			if err := sc.seed(pos, "/"+path, s.Text); err != nil {
				return nil, err
			}
		default:
			return nil, pos.Errorf("%q is not a name that is known here; allowed are %s and %s<path of a seed>", s.Name, specName, seedPrefix)
		}
	}
	if !found {
		return nil, strictyaml.Pos{File: file, Line: 1, Column: 1}.Errorf("there is no %s in this archive, add the line \"-- %s --\" and the scenario below it", specName, specName)
	}
	for _, path := range slices.Sorted(maps.Keys(sc.spec.Files)) { // so that the same error comes each time
		f := sc.spec.Files[path]
		if err := sc.seed(f.Pos, path, f.content()); err != nil {
			return nil, err
		}
	}
	return sc, nil
}

// seed takes one file of the store's first state.
func (sc *Scenario) seed(pos strictyaml.Pos, path, content string) error {
	clean, err := vpath.CleanFile(path)
	if err == nil {
		err = vfs.CheckContent(content)
	}
	if err != nil {
		return pos.Errorf("the seed %q cannot be stored: %v", path, err)
	}
	if _, twice := sc.seeds[clean]; twice {
		return pos.Errorf("the seed %s is given twice, keep one", clean)
	}
	sc.seeds[clean] = content
	return nil
}

// maxSeedBytes is more than any store takes, so that a huge count is refused
// for its size without the text being made.
const maxSeedBytes = 1<<20 + 1

// content is the text, or the repeated text with {n} counted from 1.
func (f fileSpec) content() string {
	if f.Text != nil {
		return *f.Text
	}
	if *f.Repeat == "" {
		return ""
	}
	var b strings.Builder
	for n := 1; n <= f.Count && b.Len() < maxSeedBytes; n++ {
		b.WriteString(strings.ReplaceAll(*f.Repeat, "{n}", fmt.Sprint(n)))
	}
	return b.String()
}
