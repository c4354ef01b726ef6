package vfstest

import (
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var revisionRules = []rule{
	{"revision/changes", "a revision changes on every write, also one of equal content, and never returns", writes, revisionChanges},
	{"revision/recreate", "a file that is removed and created again has a revision of its own", writes | removes, revisionRecreate},
	{"revision/stable", "a revision stays while the file does", 0, revisionStable},
	{"revision/form", "a revision is 12 characters of URL-safe base64", builtIn, revisionForm},
}

func revisionChanges(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	seen := map[vfs.Revision]bool{rev: true}
	for i := range 40 {
		content := "equal"
		if i%4 == 3 {
			content = "content of /a" // as it was at first
		}
		rev = s.write("/a", content, rev).Revision
		if seen[rev] {
			c.fatalf("write %d gave the revision %q, which the file had before", i+1, rev)
		}
		seen[rev] = true
	}
}

func revisionRecreate(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	seen := map[vfs.Revision]bool{rev: true}
	for range 20 {
		old := rev
		s.remove("/a", rev)
		rev = s.write("/a", "content of /a", "").Revision
		if seen[rev] {
			c.fatalf("the revision %q came back after a remove", rev)
		}
		seen[rev] = true
		_, err := vfs.Write(c.ctx(), s.w, "/a", "lost", old)
		c.match(err, vfs.ErrConflict, "write at the revision of before the remove")
		c.match(vfs.Remove(c.ctx(), s.w, "/a", old), vfs.ErrConflict, "remove at the revision of before the remove")
	}
}

func revisionStable(c *checker) {
	s := c.open(files("/a", "/b"))
	rev := s.stat("/a").Revision
	if rev == "" {
		c.errorf("the revision of a file is empty")
	}
	for range 3 {
		if f := s.read("/a"); f.Revision != rev {
			c.errorf("the revision went from %q to %q without a write", rev, f.Revision)
		}
		s.list("/", vfs.ListOptions{})
	}
}

const revisionChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func revisionForm(c *checker) {
	s := c.open(files("/seeded", "/d/e"))
	revs := []vfs.Revision{s.stat("/seeded").Revision, s.stat("/d/e").Revision}
	if !c.cfg.ReadOnly {
		revs = append(revs, s.write("/written", "x", "").Revision)
	}
	for _, rev := range revs {
		if len(rev) != 12 || strings.Trim(string(rev), revisionChars) != "" {
			c.errorf("the revision %q is not 12 characters of URL-safe base64", rev)
		}
	}
}
