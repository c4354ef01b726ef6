package vfstest

import (
	"context"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var sharedRules = []rule{
	{"peer/sees", "two stores over the same files see each other's writes at once", peers | writes | removes, peerSees},
	{"peer/race", "of writers at two stores with one revision exactly one wins", peers | writes, peerRace},
	{"peer/watch", "a watch learns of a peer's changes, or that it should look again", peers | writes | watches, peerWatch},
	{"reopen/keeps", "what was written is there after closing and opening again, at its revision", reopens | writes | removes, reopenKeeps},
	{"reopen/revisions", "a revision never returns, also not after opening again", reopens | writes | removes, reopenRevisions},
	{"reopen/order", "the order of files is the same after opening again", reopens, reopenOrder},
}

func peerSees(c *checker) {
	a := c.open(files("/seeded"))
	b := c.storeOf(c.cfg.Peer(c.t, a.raw))
	if f := b.read("/seeded"); f.Content != "content of /seeded" || f.Revision != a.stat("/seeded").Revision {
		c.errorf("the peer reads the seeded file as %q at %q", f.Content, f.Revision)
	}
	one := a.write("/f", "one", "")
	if f := b.describe("/f"); f.Content != "one" || f.Revision != one.Revision {
		c.errorf("the peer reads %q at %q, want %q at %q", f.Content, f.Revision, "one", one.Revision)
	}
	two := b.write("/f", "two", one.Revision)
	if f := a.describe("/f"); f.Content != "two" || f.Revision != two.Revision {
		c.errorf("after the peer's write the file is %q at %q, want %q at %q", f.Content, f.Revision, "two", two.Revision)
	}
	_, err := vfs.Write(c.ctx(), a.w, "/f", "stale", one.Revision)
	c.match(err, vfs.ErrConflict, "write at the revision that the peer replaced")
	a.remove("/f", two.Revision)
	_, err = vfs.Read(c.ctx(), b.b, "/f")
	c.match(err, vfs.ErrNotFound, "the peer's read after a remove")
	b.write("/g", "", "")
	c.same(a.all("/", "", 0), []string{"/g", "/seeded"}, "the list of / after the peer's create")
}

func peerRace(c *checker) {
	a := c.open(files("/f"))
	b := c.storeOf(c.cfg.Peer(c.t, a.raw))
	rev := a.stat("/f").Revision
	for range rounds {
		errs := atOnce(racers, func(i int) error {
			s := a
			if i%2 == 1 {
				s = b
			}
			_, err := vfs.Write(c.ctx(), s.w, "/f", fmt.Sprint("writer ", i), rev)
			return err
		})
		won := c.winner(errs, vfs.ErrConflict)
		f := b.read("/f")
		if f.Content != fmt.Sprint("writer ", won) || f.Revision == rev {
			c.errorf("writer %d won, but the file is %q at %q", won, f.Content, f.Revision)
		}
		rev = f.Revision
	}
}

// peerWatch waits, because a store may learn late of what another one did.
func peerWatch(c *checker) {
	a := c.open(files("/d/f"))
	b := c.storeOf(c.cfg.Peer(c.t, a.raw))
	learned := make(chan vfs.Event, 16)
	ctx, cancel := context.WithTimeout(c.ctx(), c.patience())
	defer cancel()
	w := a.watch("/d", func(e vfs.Event) {
		select {
		case learned <- e:
		default:
		}
	})
	<-learned // the first overflow
	rev := b.write("/d/f", "by the peer", b.stat("/d/f").Revision).Revision
	select {
	case e := <-learned:
		if !e.Overflow && (e.Path != "/d/f" || e.Info.Revision != rev) {
			c.errorf("the peer's write was told as %s", show(e))
		}
	case <-ctx.Done():
		c.errorf("the peer's write was never told")
	}
	cancel()
	a.end(w)
}

func reopenKeeps(c *checker) {
	s := c.open(files("/seeded", "/gone"))
	s.remove("/gone", s.stat("/gone").Revision)
	before := []vfs.File{s.read("/seeded")}
	for name, content := range contents {
		s.write("/"+name, content, "")
		before = append(before, s.read("/"+name))
	}
	rev := s.write("/d/often", "", "").Revision
	for i := range 30 {
		rev = s.write("/d/often", strings.Repeat("x", i*100), rev).Revision
	}
	before = append(before, s.read("/d/often"))
	paths := s.all("/", "", 0)
	for range 2 {
		s = c.storeOf(c.cfg.Reopen(c.t, s.raw))
		for _, f := range before {
			now := s.describe(f.Path)
			s.agree(f.Info, "Read before", now.Info, "Read after")
			s.unchanged(f, "opening again")
		}
		_, err := vfs.Read(c.ctx(), s.b, "/gone")
		c.match(err, vfs.ErrNotFound, "read of a removed file after opening again")
		c.same(s.all("/", "", 0), paths, "the list of / after opening again")
	}
	s.write("/d/often", "written after opening again", rev)
}

func reopenRevisions(c *checker) {
	s := c.open(nil)
	seen := map[vfs.Revision]bool{}
	rev := vfs.Revision("")
	for range 4 {
		for range 5 {
			rev = s.write("/a", "equal", rev).Revision
			if seen[rev] {
				c.fatalf("the revision %q came back", rev)
			}
			seen[rev] = true
		}
		s.remove("/a", rev)
		rev = ""
		s = c.storeOf(c.cfg.Reopen(c.t, s.raw))
	}
}

func reopenOrder(c *checker) {
	seed := files(unordered...)
	s := c.open(seed)
	s = c.storeOf(c.cfg.Reopen(c.t, s.raw))
	for _, limit := range []int{1, 7, 256} {
		c.same(s.all("/", "", limit), sorted(seed, "/", ""), "the list of / in pages of %d", limit)
	}
}
