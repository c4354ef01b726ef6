package vfstest

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// These rules hold for every backend: one that is no vfs.Searcher is searched by
// listing all its files.
var searchRules = []rule{
	{"search/holds", "a search returns every file that holds the text, others may be among them", 0, searchHolds},
	{"search/fold", "with Fold a search returns every file that holds the text under Unicode simple case folding", 0, searchFold},
	{"search/no-text", "a file that cannot be read as text is returned by every search", spoils, searchNoText},
	{"search/dir", "a search returns files at or below its directory, no others", 0, searchDir},
	{"search/listed", "a search tells of a file what Read and Stat tell", 0, searchListed},
	{"search/pages", "pages of a search, followed by Next, come to an end and have each file that holds the text once, in order", 0, searchPages},
	{"search/options", "the text of a search is valid UTF-8, not empty and without a line feed; limit and bound are those of a list", 0, searchOptions},
	{"search/canceled", "a context that has ended stops a search", 0, searchCanceled},
	{"search/changes", "a change is seen by every search that begins after it", writes | removes, searchChanges},
	{"search/peer", "a peer's change is seen by every search that begins after it", writes | peers, searchPeer},
	{"search/beside", "files that stay while others are written are found, once each", writes | removes, searchBeside},
}

// search asks the backend itself, unless it is no vfs.Searcher.
func (s *store) search(dir string, opts vfs.SearchOptions) vfs.Page {
	opts, err := opts.Checked()
	s.ok(err, "options %+v", opts)
	var page vfs.Page
	if searcher, ok := s.b.(vfs.Searcher); ok {
		page, err = searcher.Search(s.ctx(), dir, opts)
	} else {
		page, err = vfs.Search(s.ctx(), s.b, dir, opts)
	}
	s.ok(err, "search %q for %s after %s", dir, clip(opts.Text), clip(opts.After))
	s.checkSearch(dir, opts, page)
	return page
}

// checkSearch stops the rule when a page of a search cannot be right whatever the
// store holds.
func (s *store) checkSearch(dir string, opts vfs.SearchOptions, page vfs.Page) {
	what := func(problem string, args ...any) {
		s.fatalf("search %q after %s, limit %d: "+problem, append([]any{dir, clip(opts.After), opts.Limit}, args...)...)
	}
	if len(page.Files) > opts.Limit {
		what("%d files on the page", len(page.Files))
	}
	last := opts.After
	for _, info := range page.Files {
		if compare(info.Path, last) <= 0 {
			what("%s comes after %s, but does not sort after it", clip(info.Path), clip(last))
		}
		last = info.Path
	}
	if next := page.Next; next != "" && (compare(next, opts.After) <= 0 || compare(next, last) < 0 || !vpath.Within(next, dir) || !utf8.ValidString(next)) {
		what("Next is %q, the last path is %q", next, last)
	}
}

// found follows the pages of a search to the end.
func (s *store) found(dir string, opts vfs.SearchOptions) []vfs.Info {
	const most = 10_000 // pages, far more than any rule's files need
	var all []vfs.Info
	for range most {
		page := s.search(dir, opts)
		all = append(all, page.Files...)
		if page.Next == "" {
			return all
		}
		opts.After = page.Next
	}
	s.fatalf("the pages of a search of %q do not end", dir)
	return nil
}

// finds checks that a search returns the wanted paths, whatever else it returns.
func (s *store) finds(dir string, opts vfs.SearchOptions, want []string, what string, args ...any) {
	got := s.found(dir, opts)
	at := 0
	for _, info := range got {
		if at < len(want) && info.Path == want[at] {
			at++
		}
	}
	if at < len(want) {
		s.errorf(what+": the search of %q for %s, fold %t, does not return %q, which holds it",
			append(args, dir, clip(opts.Text), opts.Fold, want[at])...)
	}
}

// fold maps each character to the least one that is equal to it under Unicode
// simple case folding.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// holding returns the paths at or below dir whose content holds the text.
func holding(seed map[string]string, dir string, text string, folded bool) []string {
	return slices.DeleteFunc(sorted(seed, dir, ""), func(path string) bool {
		if folded {
			return !strings.Contains(fold(seed[path]), fold(text))
		}
		return !strings.Contains(seed[path], text)
	})
}

// letters are characters with unusual cases, and ones that sort in unusual ways.
var letters = []rune("aAbBkK\u212aiIıİsSſσςΣßẞꭰᏸéÉ \x00\r\t.*%_\ue000\uffff\U0001F600\U00010400\U00010428語")

func anyText(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		if rng.IntN(12) == 0 {
			b.WriteByte('\n')
		} else {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
	}
	return b.String()
}

// anyNeedle is a part of a line of some content, or something that perhaps no
// content holds.
func anyNeedle(rng *rand.Rand, content string) string {
	n := 1 + rng.IntN(4)
	lines := strings.Split(content, "\n")
	line := []rune(lines[rng.IntN(len(lines))])
	if len(line) < n || rng.IntN(5) == 0 {
		return strings.ReplaceAll(anyText(rng, n), "\n", "a")
	}
	at := rng.IntN(len(line) - n + 1)
	return string(line[at : at+n])
}

// library is a seed of short texts.
func library(rng *rand.Rand) map[string]string {
	seed := map[string]string{}
	for range 40 {
		seed[anyPath(rng, 3)] = anyText(rng, rng.IntN(60))
	}
	for name, content := range contents {
		seed["/contents/"+name] = content
	}
	return seed
}

func searchHolds(c *checker) { searchLibrary(c, 23, false) }

func searchFold(c *checker) { searchLibrary(c, 29, true) }

func searchLibrary(c *checker, seedNr uint64, folded bool) {
	rng := rand.New(rand.NewPCG(seedNr, 31))
	seed := library(rng)
	s := c.open(seed)
	paths := sorted(seed, "/", "")
	for range 60 {
		text := anyNeedle(rng, seed[paths[rng.IntN(len(paths))]])
		opts := vfs.SearchOptions{Text: text, Fold: folded, ListOptions: vfs.ListOptions{Limit: 1 + rng.IntN(256)}}
		s.finds("/", opts, holding(seed, "/", text, folded), "seed %d", seedNr)
	}
	for _, text := range []string{"x", strings.Repeat("x", 1000), "x\x00", "end", "\ufeffimport", "👩‍👩‍👧", "\U0010FFFF", "no such text anywhere"} {
		s.finds("/", vfs.SearchOptions{Text: text, Fold: folded}, holding(seed, "/", text, folded), "a text")
	}
}

func searchNoText(c *checker) {
	s := c.open(map[string]string{"/a": "needle", "/d/spoiled": "hay", "/z": "hay"})
	c.cfg.Spoil(c.t, s.raw, c.fixture.seedPrefix+"/d/spoiled")
	for _, text := range []string{"needle", "hay", "zz"} {
		for _, folded := range []bool{false, true} {
			s.finds("/", vfs.SearchOptions{Text: text, Fold: folded}, []string{"/d/spoiled"}, "a file that is no text")
		}
	}
}

func searchDir(c *checker) {
	seed := map[string]string{}
	for _, path := range append([]string{"/d", "/d/a", "/d/e/b", "/d0", "/d-/x", "/d\U0010ffff/x", "/D/x", "/other"}, unordered...) {
		seed[path] = "the needle"
	}
	s := c.open(seed)
	for _, dir := range []string{"/", "/d", "/d/a", "/d/e", "/dir", "/a", "/missing"} {
		opts := vfs.SearchOptions{Text: "needle"}
		s.finds(dir, opts, sorted(seed, dir, ""), "a search below a directory")
		for _, info := range s.found(dir, opts) {
			if !vpath.Within(info.Path, dir) || seed[info.Path] == "" {
				c.errorf("the search of %q returns %q", dir, info.Path)
			}
		}
	}
}

func searchListed(c *checker) {
	s := c.open(map[string]string{"/a": "needle", "/b/c": "needle and hay", "/é": "the needle"})
	found := s.found("/", vfs.SearchOptions{Text: "needle"})
	if len(found) == 0 {
		c.errorf("nothing was found")
	}
	for _, info := range found {
		s.agree(s.describe(info.Path).Info, "Read", info, "Search")
	}
}

func searchPages(c *checker) {
	rng := rand.New(rand.NewPCG(37, 41))
	seed := map[string]string{}
	for i := range 300 {
		seed[fmt.Sprintf("/n/%03d", i)] = "hay" + strings.Repeat(" needle", (i%7)/6)
	}
	for range 60 {
		seed[anyPath(rng, 3)] = "a needle"
	}
	s := c.open(seed)
	for _, limit := range []int{1, 2, 7, 64, 255, 256} {
		for _, after := range []string{"", "/n/050", "/n/\uffff", "/\ue000", "no path", "\U0010ffff"} {
			opts := vfs.SearchOptions{Text: "needle", ListOptions: vfs.ListOptions{Limit: limit, After: after}}
			want := slices.DeleteFunc(holding(seed, "/", "needle", false), func(path string) bool { return compare(path, after) <= 0 })
			s.finds("/", opts, want, "pages of %d after %q", limit, after)
		}
	}
}

func searchOptions(c *checker) {
	s := c.open(files("/a"))
	searcher, ok := s.b.(vfs.Searcher)
	if !ok {
		return
	}
	for _, opts := range []vfs.SearchOptions{
		{}, {Text: "a\nb"}, {Text: "\n"}, {Text: "\xff"}, {Text: "a", ListOptions: vfs.ListOptions{Limit: 257}},
		{Text: "a", ListOptions: vfs.ListOptions{Limit: -1}}, {Text: "a", ListOptions: vfs.ListOptions{After: "\xff"}},
	} {
		_, err := searcher.Search(c.ctx(), "/", opts)
		c.match(err, fs.ErrInvalid, "search with %+v", opts)
	}
}

func searchCanceled(c *checker) {
	s := c.open(files("/a"))
	ctx, cancel := context.WithCancel(c.ctx())
	cancel()
	if searcher, ok := s.b.(vfs.Searcher); ok {
		_, err := searcher.Search(ctx, "/", vfs.SearchOptions{Text: "content"})
		c.match(err, context.Canceled, "search")
	}
}

func searchChanges(c *checker) {
	s := c.open(map[string]string{"/a": "hay", "/b": "needle", "/c": "needle"})
	opts := vfs.SearchOptions{Text: "NEEDLE", Fold: true}
	s.finds("/", opts, []string{"/b", "/c"}, "before any change")
	s.write("/a", "a needle now", s.stat("/a").Revision)
	s.finds("/", opts, []string{"/a", "/b", "/c"}, "after a replace")
	s.write("/new/file", "needle", "")
	s.finds("/", opts, []string{"/a", "/b", "/c", "/new/file"}, "after a create")
	s.remove("/b", s.stat("/b").Revision)
	s.gone("/b", opts)
	s.write("/b", "needle again", "")
	s.finds("/", opts, []string{"/a", "/b", "/c", "/new/file"}, "after a create where one was removed")
	for i := range 300 { // more than an index keeps beside itself
		path := fmt.Sprintf("/many/%03d", i)
		s.write(path, "hay", "")
		if i%100 == 99 {
			s.write(path, "the needle", s.stat(path).Revision)
			s.finds("/many", opts, []string{path}, "after %d more", i+1)
		}
	}
	s.finds("/", opts, []string{"/a", "/b", "/c", "/many/099", "/many/199", "/many/299", "/new/file"}, "after all changes")
}

// gone checks that a search does not return what was removed.
func (s *store) gone(path string, opts vfs.SearchOptions) {
	for _, info := range s.found("/", opts) {
		if info.Path == path {
			s.errorf("the search returns %q, which was removed", path)
		}
	}
}

func searchPeer(c *checker) {
	a := c.open(map[string]string{"/a": "hay", "/b": "needle"})
	b := c.storeOf(c.cfg.Peer(c.t, a.raw))
	opts := vfs.SearchOptions{Text: "needle"}
	a.finds("/", opts, []string{"/b"}, "before the peer's change")
	b.write("/a", "needle", b.stat("/a").Revision)
	a.finds("/", opts, []string{"/a", "/b"}, "after the peer's replace")
	b.write("/c", "needle", "")
	a.finds("/", opts, []string{"/a", "/b", "/c"}, "after the peer's create")
}

// searchBeside searches while others write and remove what the search does not
// have to find, in each pause between its pages.
func searchBeside(c *checker) {
	seed := map[string]string{}
	for i := range 60 {
		seed[fmt.Sprintf("/stay/%02d", i)] = "a needle"
	}
	s := c.open(seed)
	var got []string
	opts := vfs.SearchOptions{Text: "needle", ListOptions: vfs.ListOptions{Limit: 7}}
	for n := 0; ; n++ {
		page := s.search("/", opts)
		for _, info := range page.Files {
			if vpath.Within(info.Path, "/stay") {
				got = append(got, info.Path)
			}
		}
		if page.Next == "" {
			break
		}
		if opts.After = page.Next; n > 1000 {
			s.fatalf("the pages of a search do not end")
		}
		come := fmt.Sprintf("/come/%d", n)
		s.write(come, "a needle", "")
		s.write("/stay/"+fmt.Sprintf("%02d-", n%60), "a needle that comes", "")
		s.remove(come, s.stat(come).Revision)
	}
	got = slices.DeleteFunc(got, func(path string) bool { return seed[path] == "" })
	s.same(got, sorted(seed, "/", ""), "the files that stayed")
}
