package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// Find returns the scenarios at the given paths, in order of their names: files
// as they are, directories with all .txtar files below them. Their goldens are
// in goldenDir, or where Location says if that is "". It is an error when a path
// has none, and when two scenarios would share a golden.
func Find(goldenDir string, paths ...string) ([]Location, error) {
	var found []Location
	seen := map[string]bool{}
	for _, path := range paths {
		locs, err := findIn(path, goldenDir)
		if err != nil {
			return nil, err
		}
		for _, l := range locs {
			if goldenDir != "" {
				l.Golden = goldenPath(goldenDir, l.Name)
			}
			if key := filepath.Clean(l.Path); !seen[key] {
				seen[key] = true
				found = append(found, l)
			}
		}
	}
	slices.SortFunc(found, func(a, b Location) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(found); i++ {
		if a, b := found[i-1], found[i]; a.Golden == b.Golden {
			return nil, fmt.Errorf("%s and %s would share the golden %s, rename one or replay them apart", a.Path, b.Path, a.Golden)
		}
	}
	return found, nil
}

// followed is a directory as WalkDir wants it, to look also into one that is a
// symbolic link.
func followed(dir string) string { return dir + string(filepath.Separator) }

// Unread is the error of a scenario's file that cannot be read.
func Unread(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no scenario %s, name a .txtar file: %w", path, fs.ErrNotExist)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%s is a directory, name a .txtar file in it", path)
	}
	return fmt.Errorf("the scenario %s cannot be read, name another one or look at its rights: %w", path, reason.Of(err))
}

func findIn(path, goldenDir string) ([]Location, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("there are no scenarios at %s, name a .txtar file or a directory that holds some: %w", path, reason.Of(err))
	}
	if !info.IsDir() {
		return []Location{Locate(path)}, nil
	}
	path = anchored(path)
	root := rootOf(path)
	if root == "" {
		root = path
	}
	var found []Location
	goldens := []string{filepath.Clean(goldenRoot(root))}
	if goldenDir != "" {
		goldens = append(goldens, filepath.Clean(goldenDir))
	}
	err = filepath.WalkDir(followed(path), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(goldens, p):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, extension):
			found = append(found, below(root, p))
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there are no .txtar files below %s, so there is nothing to replay", path)
	}
	return found, err
}

// Among reports whether a file is one of some, however they are written.
func Among(file string, files []string) bool {
	abs, err := filepath.Abs(file)
	return slices.ContainsFunc(files, func(f string) bool {
		if err != nil {
			return f == file
		}
		other, err := filepath.Abs(f)
		return err == nil && other == abs
	})
}
