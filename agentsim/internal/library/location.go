// Package library is where scenarios and goldens are: which files belong
// together, finding them, and reading and writing goldens.
package library

import (
	"os"
	"path/filepath"
	"strings"
)

// Location is where a scenario is and where its golden belongs.
type Location struct {
	Path   string // the scenario's file
	Name   string // area/name
	Golden string // the golden's file
}

const extension = ".txtar"

// Locate finds out what a single file is called. Below a directory "scenarios"
// its name is the path from there and its golden is in "golden" beside that
// directory; elsewhere it is the file's own name and "golden" in its directory.
func Locate(path string) Location {
	path = anchored(path)
	root := rootOf(path)
	if root == "" {
		root = filepath.Dir(path)
	}
	return below(root, path)
}

func below(root, path string) Location {
	rel, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		rel = filepath.Base(path)
	}
	name := strings.TrimSuffix(filepath.ToSlash(rel), extension)
	return Location{Path: path, Name: name, Golden: goldenPath(goldenRoot(root), name)}
}

// goldenRoot is the directory of the goldens of a directory of scenarios.
func goldenRoot(root string) string {
	if filepath.Base(root) == "scenarios" {
		return filepath.Join(filepath.Dir(root), "golden")
	}
	return filepath.Join(root, "golden")
}

func goldenPath(dir, name string) string {
	return filepath.Join(dir, filepath.FromSlash(name)+extension)
}

// anchored is the path as it is, or in full where only the working directory
// tells that it is in a directory "scenarios", which has goldens beside it.
func anchored(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || rootOf(path) != "" || rootOf(abs) == "" {
		return path
	}
	if info, err := os.Stat(goldenRoot(rootOf(abs))); err != nil || !info.IsDir() {
		return path
	}
	return abs
}

// rootOf returns the nearest directory "scenarios" that path is in or is, "" if
// there is none.
func rootOf(path string) string {
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "scenarios" {
			return dir
		}
		if dir == "." || dir == filepath.Dir(dir) {
			return ""
		}
	}
}
