package vfstest

import (
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

var pathRules = []rule{
	{"path/special", "no character of a name is special", 0, pathSpecial},
	{"path/normal-forms", "composed and decomposed spellings are two files, and so are letters of two cases", 0, pathNormalForms},
	{"path/longest", "a path of 512 UTF-16 units is a file like any other", 0, pathLongest},
	{"path/file-and-dir", "a path may be a file and a directory at once", 0, pathFileAndDir},
	{"path/refused", "an invalid path is refused by every operation", 0, pathRefused},
	{"path/unclean", "a path that is not canonical is refused when a method is called directly", builtIn, pathUnclean},
}

func pathSpecial(c *checker) {
	seed := files("/*", "/?", "/[a]", "/%", "/_", "/%41", "/a%", "/a_", "/ab", "/A", "/'", `/"`, "/;--", "/ ", "/ x ", "/.x", "/...", "/..b",
		"/$HOME", "/~", "/#", "/:", "/|", "/\u2028", "/\u00a0", "/\u200b", "/\ufeff", "/\u0080", "/😀", "/👩‍👩‍👧", "/深い/файл", "/con", "/a:b", "/<&>",
		"/\U0010FFFF", "/\uFFFF", "/{x,y}", "/!", "/-", "/--", "/?x=1&y", "/100%")
	s := c.open(seed)
	want := sorted(seed, "/", "")
	c.same(s.all("/", "", 5), want, "the list of /")
	for _, path := range want {
		if f := s.read(path); f.Path != path || f.Content != seed[path] {
			c.errorf("read %q: got path %q and content %q", path, f.Path, f.Content)
		}
		if info := s.stat(path); info.Path != path {
			c.errorf("stat %q: got path %q", path, info.Path)
		}
		c.same(s.all(path, "", 0), sorted(seed, path, ""), "the list of %q", path)
	}
}

func pathNormalForms(c *checker) {
	seed := files("/\u00dcbung.md", "/U\u0308bung.md", "/K", "/\u212a", "/k", "/\u03a3", "/\u03c3", "/\u03c2", "/ß", "/ss", "/a/x", "/A/x")
	s := c.open(seed)
	c.same(s.all("/", "", 0), sorted(seed, "/", ""), "the list of /")
	for path := range seed {
		if f := s.read(path); f.Path != path || f.Content != seed[path] {
			c.errorf("read %q: got path %q and content %q", path, f.Path, f.Content)
		}
	}
}

// longest returns valid paths of the view that use all units there are, and
// each with one more character.
func (c *checker) longest() (fit, tooLong []string) {
	room := vpath.MaxUnits - vpath.Units(c.fixture.prefix)
	for _, fill := range []string{"x", "é", "\uFFFF", "/x", "😀"} {
		path := "/l"
		for vpath.Units(path+fill) <= room {
			path += fill
		}
		if vpath.Units(path) < room {
			path += "x"
		}
		fit = append(fit, path)
		tooLong = append(tooLong, path+"x")
	}
	return fit, tooLong
}

func pathLongest(c *checker) {
	fit, tooLong := c.longest()
	seed := files(append(fit, "/l", "/la", "/m")...)
	s := c.open(seed)
	c.same(s.all("/", "", 2), sorted(seed, "/", ""), "the list of /")
	for _, path := range fit {
		if f := s.read(path); f.Content != seed[path] {
			c.errorf("read of a path of 512 units: content %s, want %s", clip(f.Content), clip(seed[path]))
		}
		c.same(s.all(path, "", 0), []string{path}, "the list of a path of 512 units")
	}
	for _, path := range tooLong {
		_, err := vfs.Read(c.ctx(), s.b, path)
		c.match(err, vfs.ErrInvalidPath, "read of a path of 513 units")
		_, err = vfs.Write(c.ctx(), s.w, path, "x", "")
		if !c.cfg.ReadOnly {
			c.match(err, vfs.ErrInvalidPath, "write of a path of 513 units")
		}
	}
}

func pathFileAndDir(c *checker) {
	seed := files("/a", "/a/b", "/a/b/c", "/a-", "/a/b-")
	s := c.open(seed)
	for path := range seed {
		if f := s.read(path); f.Content != seed[path] {
			c.errorf("read %s: content %q", path, f.Content)
		}
		s.stat(path)
		c.same(s.all(path, "", 1), sorted(seed, path, ""), "the list of %s", path)
	}
}

var (
	invalidPaths = []string{"", "a", "a/b", "/.", "/..", "/a/./b", "/a/../b", "/a/..", "/a\\b", "/a\tb", "/a\nb", "/a\x00", "/\x1f", "/\x7f",
		"/a\xff", "/\xed\xa0\x80", "/" + strings.Repeat("x", 512), strings.Repeat("/", 513), "/a//../b"}
	uncleanPaths = []string{"//", "/a/", "//a", "/a//b", "/a/b//"}
)

// refusals calls every operation of b directly with path, which is no path of
// a file, nor of a directory when noDir.
func (s *store) refusals(b vfs.Backend, path string, noDir bool) {
	if noDir {
		if w, ok := b.(vfs.Watcher); ok && !s.cfg.NoWatch {
			err := s.soon(func() error { return w.Watch(s.ctx(), path, func(vfs.Event) {}) })
			if s.match(err, vfs.ErrInvalidPath, "direct Watch of %s", clip(path)); err == errLate {
				panic(stop{}) // the other paths would take as long
			}
		}
		_, err := b.List(s.ctx(), path, vfs.ListOptions{})
		s.match(err, vfs.ErrInvalidPath, "direct List of %s", clip(path))
	}
	_, err := b.Read(s.ctx(), path)
	s.match(err, vfs.ErrInvalidPath, "direct Read of %s", clip(path))
	if st, ok := b.(vfs.Statter); ok {
		_, err := st.Stat(s.ctx(), path)
		s.match(err, vfs.ErrInvalidPath, "direct Stat of %s", clip(path))
	}
	if w, ok := b.(vfs.Writer); ok && !s.cfg.ReadOnly {
		_, err := w.Write(s.ctx(), path, "x", "")
		s.match(err, vfs.ErrInvalidPath, "direct Write of %s", clip(path))
	}
	if r, ok := b.(vfs.Remover); ok && !s.cfg.ReadOnly {
		s.match(r.Remove(s.ctx(), path, "x"), vfs.ErrInvalidPath, "direct Remove of %s", clip(path))
	}
}

func pathRefused(c *checker) {
	s := c.open(files("/a", "/a/b"))
	for _, path := range append(invalidPaths, "/", "//") {
		_, err := vfs.Read(c.ctx(), s.b, path)
		c.match(err, vfs.ErrInvalidPath, "read of %s", clip(path))
		_, err = vfs.Stat(c.ctx(), s.b, path)
		c.match(err, vfs.ErrInvalidPath, "stat of %s", clip(path))
		if !c.cfg.ReadOnly {
			_, err = vfs.Write(c.ctx(), s.w, path, "x", "")
			c.match(err, vfs.ErrInvalidPath, "write of %s", clip(path))
			c.match(vfs.Remove(c.ctx(), s.w, path, "x"), vfs.ErrInvalidPath, "remove of %s", clip(path))
		}
	}
	c.same(s.all("/", "", 0), []string{"/a", "/a/b"}, "the list of / afterwards")
	for _, path := range []string{"//a", "/a/", "///a//"} {
		if f := s.read(path); f.Path != "/a" {
			c.errorf("read of %q gave the path %q, want the canonical one", path, f.Path)
		}
	}
}

func pathUnclean(c *checker) {
	s := c.open(files("/a", "/a/b"))
	for _, path := range append(uncleanPaths, invalidPaths...) {
		s.refusals(s.b, path, true)
		if s.w != s.b {
			s.refusals(s.w, path, true)
		}
	}
	s.refusals(s.b, "/", false)
}
