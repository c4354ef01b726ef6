package vfstest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var pageRules = []rule{
	{"page/sizes", "pages of every size, followed one by one, are the whole list", 0, pageSizes},
	{"page/next", "Next is the last path when more files exist, else empty", 0, pageNext},
	{"page/bound", "a list starts after its bound, which need not be a path", 0, pageBound},
	{"page/again", "the same page asked for twice is the same", 0, pageAgain},
	{"page/owned", "a page belongs to the caller, who may change it", 0, pageOwned},
	{"page/changes", "files that stay while pages are followed appear once each, in order", writes | removes, pageChanges},
}

func pageSizes(c *checker) {
	seed := files(unordered...)
	s := c.open(seed)
	for limit := 1; limit <= len(seed)+1; limit++ {
		for _, dir := range []string{"/", "/a", "/dir"} {
			c.same(s.all(dir, "", limit), sorted(seed, dir, ""), "the list of %s in pages of %d", dir, limit)
		}
	}
}

func pageNext(c *checker) {
	seed := files("/a", "/a-", "/a/x", "/a/y", "/b")
	s := c.open(seed)
	for _, w := range []struct {
		dir, after string
		limit      int
		next       string
	}{
		{"/", "", 5, ""}, {"/", "", 4, "/a/y"}, {"/", "", 256, ""}, {"/", "/a/y", 1, ""}, {"/", "/a/x", 1, "/a/y"},
		{"/a", "", 3, ""}, {"/a", "", 2, "/a/x"}, {"/a", "", 1, "/a"}, {"/a", "/a", 1, "/a/x"}, {"/a", "/a/x", 1, ""},
		{"/a-", "", 1, ""}, {"/b", "", 1, ""}, {"/b", "/b", 1, ""},
	} {
		opts := vfs.ListOptions{After: w.after, Limit: w.limit}
		page := s.list(w.dir, opts)
		s.checkPage(w.dir, opts, page)
		if page.Next != w.next && (c.cfg.BuiltIn || (page.Next == "") != (w.next == "")) {
			c.errorf("list %s after %q, limit %d: Next is %q, want %q", w.dir, w.after, w.limit, page.Next, w.next)
		}
	}
}

func pageBound(c *checker) {
	seed := files(append(unordered, "/n", "/n/a", "/n/b/1", "/n/b/2", "/n/b0", "/n/c", "/n-", "/n0", "/m/x")...)
	s := c.open(seed)
	bounds := []string{"", "/", "//", " ", "!", "zzz", "\U0010FFFF", "\uFFFF", strings.Repeat("\uFFFF", 600), "/n/", "/n/b", "/n/b/",
		"/n/b/\uFFFF", "/n/b/" + strings.Repeat("\uFFFF", 512), "/n" + strings.Repeat("\uFFFF", 512), "/n/b0", "/n/bzz", "/n.", "/n!", "/n0",
		"/m", "/o", "/\uD7FF", "/\uE000", "/\U0001F600", "/\U0001F5FF", "/..", "/n/../n", "/n//a", "/n\\", "/n/a\x00", "\x00", "n/a",
		"/n/b/1\u0000", "/N", strings.Repeat("/n/b", 400)}
	for _, dir := range []string{"/", "/n", "/n/b", "/n/a", "/dir"} {
		for _, after := range bounds {
			for _, limit := range []int{1, 256} {
				c.same(s.all(dir, after, limit), sorted(seed, dir, after), "the list of %s after %s in pages of %d", dir, clip(after), limit)
			}
		}
	}
}

func pageAgain(c *checker) {
	seed := map[string]string{}
	for i := range 50 {
		seed[fmt.Sprintf("/%02d/hit", i)] = "hit"
	}
	s := c.open(seed)
	want := sorted(seed, "/", "")
	for range 20 {
		c.same(s.all("/", "", 7), want, "the list of / asked for again")
	}
}

func pageOwned(c *checker) {
	s := c.open(files("/a", "/b", "/c"))
	page := s.list("/", vfs.ListOptions{})
	for i := range page.Files {
		page.Files[i] = vfs.Info{Path: "/changed", Revision: "changed", Size: -5}
	}
	_ = append(page.Files, vfs.Info{Path: "/more"})
	c.same(s.all("/", "", 0), []string{"/a", "/b", "/c"}, "the list of / after a page of it was changed")
	if info := s.stat("/a"); info.Path != "/a" || info.Revision == "changed" {
		c.errorf("stat of /a gives %+v after a page was changed", info)
	}
}

// pageChanges adds and removes files on both sides of the bound, and the very
// file that is the bound.
func pageChanges(c *checker) {
	seed := map[string]string{}
	for i := range 60 {
		seed[fmt.Sprintf("/d/%02d/f", i)] = "stays"
	}
	stays := sorted(seed, "/", "")
	for i := range 60 {
		seed[fmt.Sprintf("/d/%02d/e", i)] = "goes"
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{1, 2, 7, 64} {
		s := c.open(seed)
		live := map[string]bool{}
		for path, content := range seed {
			if content == "goes" {
				live[path] = true
			}
		}
		var got []string
		opts := vfs.ListOptions{Limit: limit}
		for {
			page := s.list("/d", opts)
			s.checkPage("/d", opts, page)
			for _, info := range page.Files {
				if seed[info.Path] == "stays" {
					got = append(got, info.Path)
				}
			}
			if page.Next == "" {
				break
			}
			opts.After = page.Next
			if live[page.Next] {
				s.remove(page.Next, s.stat(page.Next).Revision)
				delete(live, page.Next)
			}
			before := fmt.Sprintf("/d/%02d/new", rng.IntN(60))
			if !live[before] {
				s.write(before, "new", "")
				live[before] = true
			}
		}
		c.same(got, stays, "the files that stayed, in pages of %d", limit)
	}
}
