package vfstest

import (
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var listRules = []rule{
	{"list/order", "files are listed in order of UTF-16 code units, as vpath.Compare has it", 0, listOrder},
	{"list/recursive", "a list holds every file at or below the directory, at any depth", 0, listRecursive},
	{"list/prefix", "a directory holds the paths that continue with / after its own, no others, as vpath.Within has it", 0, listPrefix},
	{"list/file", "listing a file's path gives that file, then what lies below it", 0, listFile},
	{"list/missing", "a directory that does not exist gives an empty page", 0, listMissing},
	{"list/limit", "a limit is 1 to 256, 0 means 64, and anything else is an error", 0, listLimit},
	{"list/bound", "the bound of a list must be valid UTF-8", 0, listBadBound},
}

// unordered are paths whose order by byte, by segment and by unit differ.
var unordered = []string{
	"/a-b/y", "/a.txt", "/a/x", "/a", "/a/b/c", "/a/b-c", "/a0",
	"/\U0001F600", "/\uE000", "/\uFB33", "/\uFF5E", "/z\U0001F602", "/z\uFFFD", "/z~",
	"/\U0010FFFF", "/\uFFFF", "/é", "/e\u0301", "/Z", "/_", "/ ", "/!",
	"/dir\U0001F600/x", "/dir\uE000/x", "/dir/\U0001F600", "/dir/\uE000", "/dir/\U0010FFFF/\uFFFF", "/dir/\uFFFF/\U0010FFFF",
}

func listOrder(c *checker) {
	seed := files(unordered...)
	c.same(c.open(seed).all("/", "", 256), sorted(seed, "/", ""), "the list of /")
}

func listRecursive(c *checker) {
	seed := files("/1", "/d/2", "/d/e/3", "/d/e/f/g/h/4", "/d"+strings.Repeat("/x", 200))
	s := c.open(seed)
	for _, dir := range []string{"/", "/d", "/d/e", "/d/e/f", "/d/e/f/g/h", "/d/x/x/x"} {
		c.same(s.all(dir, "", 0), sorted(seed, dir, ""), "the list of %s", dir)
	}
}

func listPrefix(c *checker) {
	seed := files("/a/x", "/a0/x", "/a./x", "/a-/x", "/a!", "/a /y", "/ab", "/ab/c", "/a\U0010FFFF/x", "/a\U0010FFFF",
		"/a\uFFFF/x", "/A/x", "/a%/x", "/a_/x", "/a*/x", "/b", "/a/\U0010FFFF", "/a/\uFFFF/x", "/a/\u0080",
		"/\U0010FFFF/x", "/\U0010FFFF\U0010FFFF", "/d\uE000/x", "/d\U0001F600/x", "/d\uD7FF/x")
	s := c.open(seed)
	for _, dir := range []string{"/a", "/a0", "/a.", "/a-", "/a ", "/ab", "/a\U0010FFFF", "/a\uFFFF", "/a%", "/a_", "/a*",
		"/\U0010FFFF", "/\U0010FFFF\U0010FFFF", "/d\uE000", "/d\U0001F600", "/d"} {
		c.same(s.all(dir, "", 2), sorted(seed, dir, ""), "the list of %q", dir)
	}
}

func listFile(c *checker) {
	seed := files("/f", "/f/below", "/f/below/deeper", "/f-x", "/f.x", "/f0", "/alone", "/alone2")
	s := c.open(seed)
	for _, path := range []string{"/f", "/f/below", "/f/below/deeper", "/alone"} {
		for _, limit := range []int{1, 2, 3, 256} {
			c.same(s.all(path, "", limit), sorted(seed, path, ""), "the list of the file %s, limit %d", path, limit)
		}
	}
}

func listMissing(c *checker) {
	s := c.open(files("/a", "/ab/c"))
	for _, dir := range []string{"/missing", "/a/b", "/ab/c/d", "/b", "/A"} {
		if page := s.list(dir, vfs.ListOptions{}); len(page.Files) != 0 || page.Next != "" {
			c.errorf("the list of the missing %s has %q and Next %q", dir, pathsOf(page), page.Next)
		}
	}
	if page := c.open(nil).list("/", vfs.ListOptions{}); len(page.Files) != 0 || page.Next != "" {
		c.errorf("the list of an empty store has %q and Next %q", pathsOf(page), page.Next)
	}
}

func listLimit(c *checker) {
	seed := map[string]string{}
	for i := range 300 {
		seed[fmt.Sprintf("/n/%03d", i)] = ""
	}
	s := c.open(seed)
	for _, l := range []struct{ limit, files int }{{0, 64}, {1, 1}, {64, 64}, {255, 255}, {256, 256}} {
		page, err := s.b.List(c.ctx(), "/n", vfs.ListOptions{Limit: l.limit}) // vfs.List would fill in the default
		c.ok(err, "list with limit %d", l.limit)
		s.checkPage("/n", vfs.ListOptions{Limit: l.limit}, page)
		if len(page.Files) != l.files && c.cfg.BuiltIn {
			c.errorf("limit %d gave %d files of 300, want %d", l.limit, len(page.Files), l.files)
		}
		if page.Next == "" {
			c.errorf("limit %d: Next is empty although more files exist", l.limit)
		}
	}
	for _, limit := range []int{-1, 257, -64, math.MaxInt} {
		_, err := s.b.List(c.ctx(), "/n", vfs.ListOptions{Limit: limit})
		c.match(err, fs.ErrInvalid, "list with limit %d", limit)
	}
}

func listBadBound(c *checker) {
	s := c.open(files("/a"))
	for _, after := range []string{"/\xff", "\xc3", "/a\xed\xa0\x80"} {
		_, err := s.b.List(c.ctx(), "/", vfs.ListOptions{After: after})
		c.match(err, fs.ErrInvalid, "list after %q", after)
	}
}
