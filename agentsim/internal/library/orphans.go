package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// Orphans returns the goldens, of the directories among paths, that none of the
// found scenarios has: it was renamed or removed, and what it held is held no
// more. The goldens are in goldenDir, or where Location says if that is "".
func Orphans(found []Location, goldenDir string, paths ...string) ([]Location, error) {
	taken := map[string]bool{}
	for _, l := range found {
		taken[filepath.Clean(l.Golden)] = true
	}
	var orphans []Location
	for _, path := range paths {
		in, err := goldensIn(path, goldenDir)
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
func goldensIn(path, goldens string) ([]Location, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, err // one file does not tell what else should be there
	}
	path = anchored(path)
	root := rootOf(path)
	if root == "" {
		root = path
	}
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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the goldens at %s cannot be looked through, choose another directory for them: %w", goldens, reason.Of(err))
	}
	return found, nil
}
