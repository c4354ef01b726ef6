package vfstest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var modelRules = []rule{
	{"model/list", "any list of any set of files is what sorting and filtering them gives", 0, modelList},
	{"model/watch", "who follows the events of a watch knows every file and its revision", writes | watches, modelWatch},
	{"model/changes", "any sequence of operations does what it does to a map", writes, modelChanges},
}

// words are segments that collide, nest and sort in trying ways.
var words = []string{"a", "b", "a-", "a.txt", "a0", "ab", "A", "é", "e\u0301", "\uE000", "\U0001F600", "\uFFFF", "\U0010FFFF", "*", "%", "_", " "}

func anyPath(rng *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + rng.IntN(depth) {
		b.WriteString("/" + words[rng.IntN(len(words))])
	}
	return b.String()
}

// anyBound is a path, a directory, or something that is neither.
func anyBound(rng *rand.Rand, depth int) string {
	switch path := anyPath(rng, depth); rng.IntN(6) {
	case 0:
		return ""
	case 1:
		return path + "/"
	case 2:
		return path + "/\uFFFF\uFFFF"
	case 3:
		return path[1:]
	default:
		return path
	}
}

func anyDir(rng *rand.Rand, depth int) string {
	if rng.IntN(3) == 0 {
		return "/"
	}
	return anyPath(rng, depth)
}

func modelList(c *checker) {
	for seedNr := range uint64(3) {
		rng := rand.New(rand.NewPCG(seedNr, 7))
		seed := map[string]string{}
		for range 150 {
			path := anyPath(rng, 4)
			seed[path] = path
		}
		s := c.open(seed)
		for range 150 {
			dir, after, limit := anyDir(rng, 3), anyBound(rng, 4), 1+rng.IntN(30)
			c.same(s.all(dir, after, limit), sorted(seed, dir, after), "seed %d: the list of %q after %q in pages of %d", seedNr, dir, after, limit)
			if len(c.problems) > 0 {
				return
			}
		}
	}
}

// model is what a backend should be: a map, and all revisions that ever were.
type model struct {
	files map[string]vfs.File
	seen  map[vfs.Info]bool // path and revision only, to find ones that return
	gone  []vfs.Revision
}

// modelled returns a store and a model that holds the same.
func (c *checker) modelled() (*store, *model) {
	s := c.open(files("/a", "/a/b", "/\uE000"))
	m := &model{files: map[string]vfs.File{}, seen: map[vfs.Info]bool{}, gone: []vfs.Revision{"x"}}
	for _, path := range []string{"/a", "/a/b", "/\uE000"} {
		m.files[path] = s.read(path)
	}
	return s, m
}

func modelWatch(c *checker) {
	const seedNr, steps = 17, 150
	rng := rand.New(rand.NewPCG(seedNr, 19))
	s, m := c.modelled()
	w := s.watch("/", nil)
	known := map[string]vfs.File{}
	for path, f := range m.files {
		known[path] = f
	}
	told := 1
	for step := range steps {
		s.step(m, rng, step)
		for _, e := range w.since(told) {
			told++
			if old := known[e.Path]; e.Old != nil && (e.Old.Content != old.Content || e.Old.Revision != old.Revision) {
				c.errorf("the event %s replaces %s at %q", show(e), clip(old.Content), old.Revision)
			}
			delete(known, e.Path)
			if e.Info.Revision != "" {
				known[e.Path] = m.files[e.Path]
			}
			if m.files[e.Path].Revision != e.Info.Revision {
				c.errorf("the event %s does not leave revision %q", show(e), m.files[e.Path].Revision)
			}
		}
		if len(known) != len(m.files) {
			c.errorf("the events leave %d files, there are %d", len(known), len(m.files))
		}
		if len(c.problems) > 0 {
			c.fatalf("found at step %d of seed %d", step, seedNr)
		}
	}
	s.end(w)
}

func modelChanges(c *checker) {
	const seedNr, steps = 11, 400
	rng := rand.New(rand.NewPCG(seedNr, 13))
	s, m := c.modelled()
	for step := range steps {
		s.step(m, rng, step)
		if len(c.problems) > 0 {
			c.fatalf("found at step %d of seed %d", step, seedNr)
		}
	}
	if s.cfg.Reopen != nil {
		s = c.storeOf(c.cfg.Reopen(c.t, s.raw))
	}
	s.matches(m, "/", "", 5)
	for path, f := range m.files {
		s.unchanged(f, "all operations")
		s.agree(f.Info, "Write", s.describe(path).Info, "Read")
	}
}

// step does one operation on the store and on the model.
func (s *store) step(m *model, rng *rand.Rand, step int) {
	path := anyPath(rng, 3)
	f, exists := m.files[path]
	expected := f.Revision
	switch rng.IntN(8) {
	case 0:
		expected = ""
	case 1:
		expected = m.gone[rng.IntN(len(m.gone))]
	}
	op := rng.IntN(10)
	if op == 5 && s.cfg.NoRemove {
		op = 0
	}
	switch op {
	case 0, 1, 2, 3, 4:
		s.stepWrite(m, path, fmt.Sprint(step, strings.Repeat("x", rng.IntN(2000))), expected)
	case 5:
		err := vfs.Remove(s.ctx(), s.w, path, expected)
		switch {
		case !exists:
			s.match(err, vfs.ErrNotFound, "remove %q", path)
		case expected != f.Revision:
			s.match(err, vfs.ErrConflict, "remove %q at %q, which is at %q", path, expected, f.Revision)
		default:
			s.ok(err, "remove %q", path)
			delete(m.files, path)
			m.gone = append(m.gone, f.Revision)
		}
	case 6:
		now, err := vfs.Read(s.ctx(), s.b, path)
		switch {
		case !exists:
			s.match(err, vfs.ErrNotFound, "read %q", path)
		case err != nil || now.Content != f.Content || now.Revision != f.Revision:
			s.errorf("read %q: %s at %q, error %v, want %s at %q", path, clip(now.Content), now.Revision, err, clip(f.Content), f.Revision)
		}
	default:
		s.matches(m, anyDir(rng, 2), anyBound(rng, 3), 1+rng.IntN(20))
	}
}

func (s *store) stepWrite(m *model, path, content string, expected vfs.Revision) {
	f, exists := m.files[path]
	info, err := vfs.Write(s.ctx(), s.w, path, content, expected)
	if expected != f.Revision {
		s.match(err, vfs.ErrConflict, "write %q at %q, which is at %q", path, expected, f.Revision)
		return
	}
	s.ok(err, "write %q at %q", path, expected)
	version := vfs.Info{Path: path, Revision: info.Revision}
	if m.seen[version] {
		s.errorf("write %q: the revision %q was given before", path, info.Revision)
	}
	m.seen[version] = true
	if exists {
		m.gone = append(m.gone, f.Revision)
	}
	m.files[path] = vfs.File{Info: info, Content: content}
}

// matches compares a list in pages with the model.
func (s *store) matches(m *model, dir, after string, limit int) {
	seed := make(map[string]string, len(m.files))
	for path := range m.files {
		seed[path] = ""
	}
	s.same(s.all(dir, after, limit), sorted(seed, dir, after), "the list of %q after %q in pages of %d", dir, after, limit)
}
