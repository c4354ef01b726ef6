package agentsim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Orphans returns the goldens, of the directories among Paths, that no scenario
// has: it was renamed or removed, and what it held is held no more. With Match,
// which leaves scenarios out on purpose, there are none.
func (r *Runner) Orphans() ([]Location, error) {
	if r.Match != nil {
		return nil, nil
	}
	found, err := r.List()
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, l := range found {
		taken[filepath.Clean(l.Golden)] = true
	}
	var orphans []Location
	for _, path := range r.paths() {
		in, err := r.goldensIn(path)
		if err != nil {
			return nil, err
		}
		for _, l := range in {
			if !taken[l.Golden] {
				taken[l.Golden] = true
				orphans = append(orphans, l)
			}
		}
	}
	return orphans, nil
}

// goldensIn returns the goldens that belong to a directory of scenarios.
func (r *Runner) goldensIn(path string) ([]Location, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, err // one file does not tell what else should be there
	}
	path = anchored(path)
	root := rootOf(path)
	if root == "" {
		root = path
	}
	goldens := r.Golden
	if goldens == "" {
		goldens = goldenRoot(root)
	}
	area, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	var found []Location
	err = filepath.WalkDir(followed(filepath.Join(goldens, area)), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, extension) {
			name := strings.TrimSuffix(strings.TrimPrefix(p, filepath.Clean(goldens)+string(filepath.Separator)), extension)
			found = append(found, Location{Path: filepath.Join(root, name+extension), Name: filepath.ToSlash(name), Golden: p})
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

// orphaned is the result for a golden without a scenario. Update leaves it: it
// may be the trace of a scenario that was lost.
func orphaned(l Location) Result {
	return Result{Location: l, Status: Differs, Err: fmt.Errorf(
		"the golden %s has no scenario, remove it or bring back %s", l.Golden, l.Path)}
}
