package vfstest

import "github.com/goliathfs/goliathfs/vfs"

var removeRules = []rule{
	{"remove/revision", "a remove needs the current revision; another or none is ErrConflict and leaves the file", writes | removes, removeRevision},
	{"remove/missing", "removing a file that does not exist is ErrNotFound, whatever the revision", writes | removes, removeMissing},
	{"remove/one-file", "a remove removes the one file, never what lies below or beside it", writes | removes, removeOneFile},
	{"remove/gone", "a removed file is gone from Read, Stat and List, and so are directories that it alone implied", writes | removes, removeGone},
}

func removeRevision(c *checker) {
	s := c.open(nil)
	first := s.write("/a", "first", "").Revision
	second := s.write("/a", "second", first).Revision
	f := s.read("/a")
	for _, rev := range []vfs.Revision{"", first, "x", second + "x", "\x00", "*"} {
		c.match(vfs.Remove(c.ctx(), s.w, "/a", rev), vfs.ErrConflict, "remove at revision %q of a file at %q", rev, second)
		s.unchanged(f, "a refused remove")
	}
	s.remove("/a", second)
	_, err := vfs.Read(c.ctx(), s.b, "/a")
	c.match(err, vfs.ErrNotFound, "read after the remove")
}

func removeMissing(c *checker) {
	s := c.open(files("/dir/file", "/file"))
	gone := s.write("/gone", "x", "").Revision
	s.remove("/gone", gone)
	for _, path := range []string{"/gone", "/never", "/dir", "/file/below"} {
		for _, rev := range []vfs.Revision{"", gone, "x"} {
			c.match(vfs.Remove(c.ctx(), s.w, path, rev), vfs.ErrNotFound, "remove at revision %q of the missing %s", rev, path)
		}
	}
	c.same(s.all("/", "", 0), []string{"/dir/file", "/file"}, "the list of / afterwards")
}

func removeOneFile(c *checker) {
	seed := files("/foo", "/foobar", "/foo/bar", "/foo/bar/baz", "/foo-", "/FOO", "/fo", "/foo\U0010FFFF", "/foo/\U0010FFFF")
	for path := range seed {
		s := c.open(seed)
		s.remove(path, s.stat(path).Revision)
		rest := files()
		for other, content := range seed {
			if other != path {
				rest[other] = content
			}
		}
		c.same(s.all("/", "", 0), sorted(rest, "/", ""), "the list of / after a remove of %q", path)
		for other, content := range rest {
			if f := s.read(other); f.Content != content {
				c.errorf("a remove of %q changed %q", path, other)
			}
		}
	}
}

func removeGone(c *checker) {
	s := c.open(files("/d/e/f", "/x"))
	s.remove("/d/e/f", s.stat("/d/e/f").Revision)
	_, err := vfs.Read(c.ctx(), s.b, "/d/e/f")
	c.match(err, vfs.ErrNotFound, "read")
	_, err = vfs.Stat(c.ctx(), s.b, "/d/e/f")
	c.match(err, vfs.ErrNotFound, "stat")
	for _, dir := range []string{"/d/e/f", "/d/e", "/d"} {
		c.same(s.all(dir, "", 0), []string{}, "the list of %s", dir)
	}
	c.same(s.all("/", "", 0), []string{"/x"}, "the list of /")
}
