package vfstest

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

var raceRules = []rule{
	{"race/write", "of any number of writers with one revision exactly one wins, the others get ErrConflict", writes, raceWrite},
	{"race/create", "of any number of creators exactly one wins, the others get ErrConflict", writes, raceCreate},
	{"race/remove", "of any number of removers exactly one wins, the others get ErrNotFound", writes | removes, raceRemove},
	{"race/mixed", "of writers and removers with one revision exactly one wins", writes | removes, raceMixed},
	{"race/edits", "no edit is lost when each writes the revision it read and tries again on ErrConflict", writes, raceEdits},
	{"race/torn", "a read is one written body, whole, with the revision that its write returned", writes, raceTorn},
	{"race/apart", "writers of different files do not disturb each other, nor a list that runs beside them", writes | removes, raceApart},
}

// atOnce runs fn n times at once and returns their results.
func atOnce[T any](n int, fn func(i int) T) []T {
	results := make([]T, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			results[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return results
}

// retry calls try again while it returns ErrConflict, which can be no more
// often than others succeed in between.
func retry(others int, try func() error) error {
	for range others + 1 {
		if err := try(); !errors.Is(err, vfs.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%w, %d times, although only %d other writes succeeded", vfs.ErrConflict, others+1, others)
}

const (
	racers = 16
	rounds = 6
)

// winner returns the index of the one nil error, and records a problem when
// there is not exactly one or another error does not match any of losses.
func (c *checker) winner(errs []error, losses ...error) int {
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			c.fatalf("%d and %d of %d both won", won, i, len(errs))
		case err == nil:
			won = i
		case !matchAny(err, losses):
			c.errorf("a loser got error %v, want one of %q", err, losses)
		}
	}
	if won < 0 {
		c.fatalf("none of %d won: %v", len(errs), errs[0])
	}
	return won
}

func matchAny(err error, wants []error) bool {
	for _, want := range wants {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

func raceWrite(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	for range rounds {
		infos := make([]vfs.Info, racers)
		errs := atOnce(racers, func(i int) (err error) {
			infos[i], err = vfs.Write(c.ctx(), s.w, "/a", fmt.Sprint("writer ", i), rev)
			return err
		})
		won := c.winner(errs, vfs.ErrConflict)
		f := s.read("/a")
		if f.Revision != infos[won].Revision || f.Content != fmt.Sprint("writer ", won) {
			c.errorf("writer %d won at %q, but the file is %q at %q", won, infos[won].Revision, f.Content, f.Revision)
		}
		rev = f.Revision
	}
}

func raceCreate(c *checker) {
	s := c.open(nil)
	for round := range rounds {
		path := fmt.Sprintf("/new%d", round)
		errs := atOnce(racers, func(i int) error {
			_, err := vfs.Write(c.ctx(), s.w, path, fmt.Sprint("creator ", i), "")
			return err
		})
		won := c.winner(errs, vfs.ErrConflict)
		if f := s.read(path); f.Content != fmt.Sprint("creator ", won) {
			c.errorf("creator %d won, but the file is %q", won, f.Content)
		}
	}
}

func raceRemove(c *checker) {
	s := c.open(nil)
	for range rounds {
		rev := s.write("/a", "x", "").Revision
		c.winner(atOnce(racers, func(int) error { return vfs.Remove(c.ctx(), s.w, "/a", rev) }), vfs.ErrNotFound)
		_, err := vfs.Read(c.ctx(), s.b, "/a")
		c.match(err, vfs.ErrNotFound, "read after the removes")
	}
}

func raceMixed(c *checker) {
	s := c.open(nil)
	for round := range rounds {
		path := fmt.Sprintf("/m%d", round)
		rev := s.write(path, "x", "").Revision
		errs := atOnce(racers, func(i int) error {
			if i%2 == 0 {
				return vfs.Remove(c.ctx(), s.w, path, rev)
			}
			_, err := vfs.Write(c.ctx(), s.w, path, "y", rev)
			return err
		})
		won := c.winner(errs, vfs.ErrConflict, vfs.ErrNotFound)
		_, err := vfs.Read(c.ctx(), s.b, path)
		if removed := errors.Is(err, vfs.ErrNotFound); removed != (won%2 == 0) {
			c.errorf("racer %d won (even ones remove), but reading gives error %v", won, err)
		}
	}
}

func raceEdits(c *checker) {
	s := c.open(nil)
	s.write("/log", "", "")
	errs := atOnce(racers, func(i int) error {
		return retry(racers-1, func() error {
			f, err := vfs.Read(c.ctx(), s.b, "/log")
			if err == nil {
				_, err = vfs.Write(c.ctx(), s.w, "/log", fmt.Sprintf("%s<%d>", f.Content, i), f.Revision)
			}
			return err
		})
	})
	c.ok(errors.Join(errs...), "append")
	log := s.read("/log").Content
	for i := range racers {
		if n := strings.Count(log, fmt.Sprintf("<%d>", i)); n != 1 {
			c.errorf("the edit of writer %d is in the file %d times, all reported success", i, n)
		}
	}
}

func raceApart(c *checker) {
	s := c.open(files("/stays/1", "/stays/2"))
	errs := atOnce(racers, func(i int) error {
		if i == 0 {
			return s.listing()
		}
		path := fmt.Sprintf("/d/%d", i)
		for n := range rounds {
			info, err := vfs.Write(c.ctx(), s.w, path, fmt.Sprint(n), "")
			if err == nil {
				info, err = vfs.Write(c.ctx(), s.w, path, fmt.Sprint(n, " again"), info.Revision)
			}
			if err == nil && n < rounds-1 {
				err = vfs.Remove(c.ctx(), s.w, path, info.Revision)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	c.ok(errors.Join(errs...), "writes apart from each other")
	want := files("/stays/1", "/stays/2")
	for i := 1; i < racers; i++ {
		want[fmt.Sprintf("/d/%d", i)] = ""
	}
	c.same(s.all("/", "", 0), sorted(want, "/", ""), "the list of / afterwards")
}

// listing lists while others write and checks order and what never changes.
func (s *store) listing() error {
	for range 3 * rounds {
		last, stays := "", 0
		for info, err := range walk.Files(s.ctx(), s.b, "/") {
			if err != nil {
				return err
			}
			if compare(info.Path, last) <= 0 {
				return fmt.Errorf("a list beside writers has %q after %q", info.Path, last)
			}
			if strings.HasPrefix(info.Path, "/stays/") {
				stays++
			}
			last = info.Path
		}
		if stays != 2 {
			return fmt.Errorf("a list beside writers shows %d of 2 files that no one touched", stays)
		}
	}
	return nil
}
