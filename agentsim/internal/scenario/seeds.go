package scenario

import (
	"maps"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// plant takes the seeds that scenario.yaml lists.
func (sc *Scenario) plant() error {
	for _, path := range slices.Sorted(maps.Keys(sc.Files)) { // so that the same error comes each time
		f := sc.Files[path]
		content, err := sc.content(f)
		if err == nil {
			err = sc.seed(f.Pos, path, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seed takes one file of the store's first state.
func (sc *Scenario) seed(pos strictyaml.Pos, path, content string) error {
	clean, err := vpath.CleanFile(path)
	if err == nil {
		err = textfile.Check(content)
	}
	if err != nil {
		return pos.Errorf("the seed %q cannot be stored: %v", path, err)
	}
	if _, twice := sc.Seeds[clean]; twice {
		return pos.Errorf("the seed %s is given twice, keep one", clean)
	}
	sc.Seeds[clean] = content
	return pos.At(sc.take(len(content)))
}
