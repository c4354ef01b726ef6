// Package gitignore reads .gitignore files, and says which files they name. It does as
// git does, byte for byte, with two limits for files that come from others: a file may
// have MaxSize bytes, and matching costs at most the length of a path times that of a
// pattern, whatever the pattern is.
//
// What git reads beside the .gitignore files of a folder, such as those above it and a
// user's own, is not looked at.
package gitignore

import (
	"fmt"
	"path"
	"strings"
)

// MaxSize is the greatest .gitignore file, in bytes.
const MaxSize = 64 << 10

// Rules are the patterns of the .gitignore files of one folder. The zero value has none.
// They are for one goroutine while files are added, and then for any number.
type Rules struct {
	files map[string][]pattern // by directory below the folder; "." for the folder itself
}

// Add adds the .gitignore file of a directory, "." or a slash-separated path below the
// folder. Its error is one sentence.
func (r *Rules) Add(dir, text string) error {
	if len(text) > MaxSize {
		return fmt.Errorf("it is longer than %d bytes", MaxSize)
	}
	if r.files == nil {
		r.files = map[string][]pattern{}
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if p, ok := parse(strings.TrimSuffix(line, "\r")); ok {
			r.files[dir] = append(r.files[dir], p)
		}
	}
	return nil
}

// Ignored reports whether the rules name a file or a directory, a slash-separated path
// below the folder, or a directory above it, below which nothing shows.
func (r *Rules) Ignored(name string, isDir bool) bool {
	name = path.Clean("/" + name)[1:] // without which the way up from "/a" would not end
	for i := 0; i < len(name); i++ {
		if name[i] == '/' && r.names(name[:i], true) {
			return true
		}
	}
	return r.names(name, isDir)
}

// names is Ignored of the path alone: the last pattern of the nearest file decides.
func (r *Rules) names(name string, isDir bool) bool {
	if path.Base(name) == ".git" {
		return true
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		rel := name
		if dir != "." {
			rel = name[len(dir)+1:]
		}
		patterns := r.files[dir]
		for i := len(patterns) - 1; i >= 0; i-- {
			if p := patterns[i]; (isDir || !p.dirOnly) && p.matches(rel) {
				return !p.negated
			}
		}
		if dir == "." {
			return false
		}
	}
}
