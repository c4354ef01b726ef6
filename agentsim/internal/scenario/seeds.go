package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// plant takes the seeds that scenario.yaml lists.
func (sc *Scenario) plant() error {
	for _, path := range slices.Sorted(maps.Keys(sc.Files)) { // so that the same error comes each time
		f := sc.Files[path]
		if err := sc.seed(f.Pos, path, f.content()); err != nil {
			return err
		}
	}
	return nil
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
	if _, twice := sc.Seeds[clean]; twice {
		return pos.Errorf("the seed %s is given twice, keep one", clean)
	}
	sc.Seeds[clean] = content
	return nil
}

// maxSeedBytes is more than any store takes, so that a huge count is refused
// for its size without the text being made.
const maxSeedBytes = 1<<20 + 1

// content is the text, or the repeated text with {n} counted from 1.
func (f File) content() string {
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
