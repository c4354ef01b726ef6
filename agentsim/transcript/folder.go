package transcript

import (
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/folder"
)

// outside marks paths that the working folder does not lead to, once it has been
// stripped: a sign that no path has.
const outside = "\x00"

// strip takes the working folder out of a text, wherever a path begins with it, so
// that a scenario does not tell where it came from.
func strip(text, dir string) string {
	if dir == "" || dir == "/" {
		return text
	}
	return folder.Replace(text, dir, func(rest string) string {
		if strings.HasPrefix(rest, "/") {
			return ""
		}
		return "/"
	})
}

// stripPath makes a path of another tool relative to the working folder, and marks
// one that is outside.
func stripPath(p, dir string) string {
	if dir == "" || dir == "/" || !strings.HasPrefix(p, "/") {
		return p
	}
	if p == dir {
		return "/"
	}
	if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
		return "/" + rest
	}
	return outside + p
}

// stripArgs strips the working folder from every text in arguments, and from those
// that are paths of other tools as paths.
func stripArgs(a map[string]any, dir string, paths bool) {
	for name, v := range a {
		a[name] = stripValue(name, v, dir, paths)
	}
}

func stripValue(name string, v any, dir string, paths bool) any {
	switch v := v.(type) {
	case string:
		if paths && isPathName(name) {
			return stripPath(v, dir)
		}
		if paths && (name == "input" || name == "patch") {
			return stripPatch(v, dir)
		}
		return strip(v, dir)
	case []any:
		for i := range v {
			v[i] = stripValue("", v[i], dir, paths)
		}
	case map[string]any:
		stripArgs(v, dir, paths)
	}
	return v
}

// stripPatch strips a text that may be a patch, whose headers name files.
func stripPatch(text, dir string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		header, path, ok := strings.Cut(line, " File: ")
		if !ok || !strings.HasPrefix(header, "*** ") {
			b.WriteString(strip(line, dir))
			continue
		}
		b.WriteString(header + " File: " + stripPath(path, dir))
	}
	return b.String()
}

func isPathName(name string) bool {
	for _, n := range append([]string{"dir_path", "directory", "target_directory"}, pathNames...) {
		if n == name {
			return true
		}
	}
	return false
}
