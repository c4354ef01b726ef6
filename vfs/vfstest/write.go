package vfstest

import (
	"github.com/goliathfs/goliathfs/vfs"
)

var writeRules = []rule{
	{"write/create-only", "a write without a revision creates, and is ErrConflict where a file exists", writes, writeCreateOnly},
	{"write/stale", "a write at another revision is ErrConflict and leaves content and revision", writes, writeStale},
	{"write/gone", "a write with a revision is ErrConflict where no file exists, and creates none", writes | removes, writeGone},
	{"write/one-file", "a write changes the one file and no other", writes, writeOneFile},
	{"write/read-only", "a read-only backend refuses writes and removes with ErrReadOnly", readOnly, writeReadOnly},
}

// unchanged records a problem unless the file at path is still f.
func (s *store) unchanged(f vfs.File, after string) {
	if now := s.read(f.Path); now.Content != f.Content || now.Revision != f.Revision {
		s.errorf("after %s, %s is %q at %q, want %q at %q", after, f.Path, now.Content, now.Revision, f.Content, f.Revision)
	}
}

func writeCreateOnly(c *checker) {
	s := c.open(files("/seeded"))
	created := s.write("/created", "first", "")
	if created.Path != "/created" || created.Revision == "" {
		c.errorf("create says path %q and revision %q", created.Path, created.Revision)
	}
	for _, path := range []string{"/seeded", "/created"} {
		f := s.read(path)
		for _, content := range []string{"second", f.Content, ""} {
			_, err := vfs.Write(c.ctx(), s.w, path, content, "")
			c.match(err, vfs.ErrConflict, "create over %s", path)
			s.unchanged(f, "a create over it")
		}
	}
}

func writeStale(c *checker) {
	s := c.open(files("/other"))
	first := s.write("/a", "first", "")
	second := s.write("/a", "second", first.Revision)
	f := s.read("/a")
	if f.Content != "second" || f.Revision != second.Revision {
		c.errorf("after a write at the right revision the file is %q at %q", f.Content, f.Revision)
	}
	for _, rev := range []vfs.Revision{first.Revision, s.stat("/other").Revision, "x", second.Revision + "x", " " + second.Revision,
		"\x00", "%", "*", "é", second.Revision[:len(second.Revision)-1]} {
		if rev == "" {
			continue
		}
		_, err := vfs.Write(c.ctx(), s.w, "/a", "stale", rev)
		c.match(err, vfs.ErrConflict, "write at revision %q of a file at %q", rev, second.Revision)
		s.unchanged(f, "a stale write")
	}
}

func writeGone(c *checker) {
	s := c.open(files("/dir/file"))
	gone := s.write("/gone", "x", "").Revision
	s.remove("/gone", gone)
	for _, path := range []string{"/gone", "/never", "/dir"} {
		for _, rev := range []vfs.Revision{gone, "x"} {
			_, err := vfs.Write(c.ctx(), s.w, path, "again", rev)
			c.match(err, vfs.ErrConflict, "write at revision %q of the missing %s", rev, path)
			_, err = vfs.Read(c.ctx(), s.b, path)
			c.match(err, vfs.ErrNotFound, "read of %s afterwards", path)
		}
	}
	c.same(s.all("/", "", 0), []string{"/dir/file"}, "the list of / afterwards")
}

func writeOneFile(c *checker) {
	seed := files("/f", "/foo", "/foobar", "/foo/bar", "/foo/bar/baz", "/foo-", "/FOO", "/fo", "/foo\U0010FFFF")
	s := c.open(seed)
	before := map[string]vfs.File{}
	for path := range seed {
		before[path] = s.read(path)
	}
	for path := range seed {
		s.write(path, "new", s.stat(path).Revision)
		before[path] = s.describe(path)
		for _, other := range before {
			s.unchanged(other, "a write to "+path)
		}
	}
	c.same(s.all("/", "", 0), sorted(seed, "/", ""), "the list of / afterwards")
}

func writeReadOnly(c *checker) {
	s := c.open(files("/a"))
	f := s.read("/a")
	_, err := vfs.Write(s.ctx(), s.b, "/a", "changed", f.Revision)
	s.match(err, vfs.ErrReadOnly, "write")
	_, err = vfs.Write(s.ctx(), s.b, "/new", "created", "")
	s.match(err, vfs.ErrReadOnly, "create")
	s.match(vfs.Remove(s.ctx(), s.b, "/a", f.Revision), vfs.ErrReadOnly, "remove")
	if route, err := vfs.RouteOf(s.ctx(), s.b, "/a"); err != nil || route.Writable {
		s.errorf("the route of /a is %+v, error %v, want one that cannot be written", route, err)
	}
	s.unchanged(f, "refused changes")
	s.same(s.all("/", "", 0), []string{"/a"}, "the list of / afterwards")
}
