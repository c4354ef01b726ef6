package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// What a model sees of a search depends on what is in the store and on nothing
// else: not on whether the store has an index, nor on what is around it. The pages
// of one store are compared, byte for byte and cursors included, as seen through
// the Searcher and without it, while the store changes between the pages.

// changeable is a store that the tests of pages change.
type changeable interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
}

// scanned is a store without its index: searches read every file.
type scanned struct{ vfs.Backend }

// filtered is a store with a Searcher that is exact, but for files that it returns
// for no reason, as an index may, and pages that it cuts as it likes.
type filtered struct {
	vfs.Backend
	asked *atomic.Int64
}

var _ vfs.Searcher = filtered{}

func (f filtered) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	f.asked.Add(1)
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	opts.Limit = 1 + luck(opts.After)%opts.Limit
	page, err := f.List(ctx, dir, opts.ListOptions)
	if err != nil {
		return vfs.Page{}, err
	}
	expr := regexp.QuoteMeta(opts.Text)
	if opts.Fold {
		expr = "(?i)" + expr
	}
	re := regexp.MustCompile(expr)
	page.Files = slices.DeleteFunc(page.Files, func(info vfs.Info) bool {
		file, err := f.Read(ctx, info.Path)
		return err == nil && utf8.ValidString(file.Content) && !re.MatchString(file.Content) && luck(info.Path)%8 > 0
	})
	return page, nil
}

// luck is a number that looks random and is the same for the same text.
func luck(text string) int {
	h := fnv.New32a()
	h.Write([]byte(text))
	return int(h.Sum32() >> 8)
}

// damaged is a store some of whose files are not text.
type damaged struct{ changeable }

func (d damaged) Read(ctx context.Context, path string) (vfs.File, error) {
	f, err := d.changeable.Read(ctx, path)
	if err == nil && luck(path)%7 == 0 {
		return vfs.File{}, vfs.ErrNotText
	}
	return f, err
}

// around are the ways to have a store: as it is and behind each wrapper.
func around(t *testing.T, b vfs.Backend) map[string]vfs.Backend {
	t.Helper()
	other, err := memfs.New(map[string]string{"/b/x": "kſ", "/d/in/hidden": "k", "/z": "kſ\nK"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	routed, err := routefs.New(other, []routefs.Route{{Prefix: "/d/in", Backend: b}, {Prefix: "/c", Backend: b, ReadOnly: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := wrap.Sub(b, "/d")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]vfs.Backend{
		"bare": b, "read-only": wrap.ReadOnly(b), "sub": sub, "routed": routed, "socket": served(t, b),
		"all": wrap.ReadOnly(served(t, routed)),
	}
}

// letters are what contents and needles of the tests are made of: characters that
// fold to others, some of another length in UTF-8, and those that sort or count
// unlike others.
var letters = strings.Split("ſ,s,S,İ,i,I,ı,K,k,K,ς,σ,Σ,ẞ,ß,ꭰ,Ꭰ,a,b, ,\x00,\uE000,\uFFFF,😀,é,e\u0301,字,\r", ",")

func someText(r *rand.Rand, letter int) string {
	var b strings.Builder
	for range letter {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func someContent(r *rand.Rand) string {
	var lines []string
	for range r.IntN(6) {
		lines = append(lines, someText(r, r.IntN(12)))
	}
	return strings.Join(lines, "\n")
}

// somePath has few directories, so that files are changed and removed again.
func somePath(r *rand.Rand) string {
	dirs := []string{"", "/a", "/d", "/d/in", "/d/😀", "/z"}
	return fmt.Sprintf("%s/%s%d", dirs[r.IntN(len(dirs))], letters[4+r.IntN(3)], r.IntN(15))
}

// change writes or removes a file of s.
func change(ctx context.Context, r *rand.Rand, s changeable) error {
	path := somePath(r)
	var rev vfs.Revision
	info, err := vfs.Stat(ctx, s, path)
	switch {
	case err == nil:
		rev = info.Revision
	case !errors.Is(err, vfs.ErrNotFound):
		return err
	}
	if rev != "" && r.IntN(3) == 0 {
		return s.Remove(ctx, path, rev)
	}
	_, err = s.Write(ctx, path, someContent(r), rev)
	return err
}

// someSearch is a grep, mostly, with a needle of one to four characters that may
// stand in a file.
func someSearch(ctx context.Context, r *rand.Rand, s changeable) (tool string, args map[string]any) {
	if r.IntN(5) == 0 {
		return agenttool.Glob, map[string]any{"pattern": []string{"/**", "/d/**/*1", "/*/?1?", "/d/i*/*", "//a//*"}[r.IntN(5)]}
	}
	needle := someText(r, 1+r.IntN(4))
	if f, err := s.Read(ctx, somePath(r)); err == nil && r.IntN(2) == 0 {
		if text := []rune(f.Content); len(text) > 4 {
			at := r.IntN(len(text) - 4)
			needle = string(text[at : at+1+r.IntN(4)])
		}
	}
	args = map[string]any{"pattern": needle, "ignoreCase": r.IntN(2) == 0}
	if r.IntN(4) == 0 {
		args["path"] = []string{"/d", "/d/in", "/c/d", "/missing"}[r.IntN(4)]
	}
	return agenttool.Grep, args
}

// samePages follows a search in both stores at once, calling between after each
// page, and reports the first difference.
func samePages(ctx context.Context, opts agenttool.Options, tool string, args map[string]any, one, two vfs.Backend, between func() error) (pages int, err error) {
	var sets [2]*agenttool.Toolset
	for i, b := range []vfs.Backend{one, two} {
		opts.Backend = b
		if sets[i], err = agenttool.New(opts); err != nil {
			return 0, err
		}
	}
	for pages = 1; ; pages++ {
		input, err := json.Marshal(args)
		if err != nil {
			return pages, err
		}
		var shown [2]string
		var next string
		for i, set := range sets {
			res, err := set.Call(ctx, agenttool.Scope{}, tool, input)
			if shown[i] = res.Text; err != nil {
				shown[i] = err.Error()
			} else {
				next = res.Output.Next()
			}
		}
		if diff := cmp.Diff(shown[0], shown[1]); diff != "" {
			return pages, fmt.Errorf("page %d of %s %s, %d matches, %d tokens: -one +two\n%s", pages, tool, input, opts.MaxMatches, opts.MaxTokens, diff)
		}
		if next == "" {
			return pages, nil
		}
		args["cursor"] = next
		if err := between(); err != nil {
			return pages, err
		}
	}
}

// testPages searches s through indexed, which is s or s with an index, and s
// scanned, each in every way to have it.
func testPages(t *testing.T, seed uint64, s changeable, indexed vfs.Backend) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		if err := change(t.Context(), r, s); err != nil {
			t.Fatal(err)
		}
	}
	one, two := around(t, indexed), around(t, scanned{s})
	more := 0
	for range 15 {
		for name := range one {
			tool, args := someSearch(t.Context(), r, s)
			opts := agenttool.Options{MaxMatches: 1 + r.IntN(12), MaxTokens: []int{90, 512, 100000}[r.IntN(3)]}
			between := func() error {
				for range r.IntN(3) {
					if err := change(t.Context(), r, s); err != nil {
						return err
					}
				}
				return nil
			}
			pages, err := samePages(t.Context(), opts, tool, args, one[name], two[name], between)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			more += pages - 1
		}
	}
	if more == 0 {
		t.Error("no search had a second page")
	}
}

// seeds is how many random stores are searched, few unless all are asked for.
func seeds(few uint64) uint64 { return testsize.Pick(few, few, 60) }

// An exact filter, over a store in memory, some of whose files are not text.
func TestPagesFiltered(t *testing.T) {
	for seed := range seeds(2) {
		mem, err := memfs.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int64
		s := damaged{mem}
		testPages(t, seed, s, filtered{s, &asked})
		if asked.Load() == 0 {
			t.Error("the filter was not asked")
		}
	}
}

// What a store's own Searcher says, if it has one.
func TestPagesOfStores(t *testing.T) {
	for _, kind := range append([]string{"memory"}, kinds...) {
		t.Run(kind, func(t *testing.T) {
			for seed := range seeds(1) {
				var s changeable
				if kind == "memory" {
					mem, err := memfs.New(nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					s = mem
				} else {
					s = open(t, kind, t.TempDir(), options{Relaxed: true})
				}
				testPages(t, seed, s, s)
			}
		})
	}
}

// Each wrapper asks the Searcher inside it.
func TestWrappersAskTheIndex(t *testing.T) {
	mem, err := memfs.New(map[string]string{"/d/a": "k", "/a": "k"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	for name, b := range around(t, filtered{mem, &asked}) {
		before := asked.Load()
		page, err := vfs.Search(t.Context(), b, "/", vfs.SearchOptions{Text: "K", Fold: true})
		if err != nil || len(page.Files) == 0 || asked.Load() == before {
			t.Errorf("%s: %v, %v, asked %d times", name, page, err, asked.Load()-before)
		}
	}
}

// FuzzPages searches a few files for any needle.
func FuzzPages(f *testing.F) {
	for i, needle := range []string{"ſ", "kK", "\x00", "😀a", "σς", "ꭰ", "\r", "İ"} {
		f.Add(uint64(i), needle, "Kſ\n"+needle+"\nx "+needle+needle, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, needle, content string, ignoreCase bool) {
		if !utf8.ValidString(needle) || !utf8.ValidString(content) || len(content) > 4096 {
			t.Skip("not what a store or a call can hold")
		}
		mem, err := memfs.New(map[string]string{"/d/given": content, "/given": content + content}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		for range 12 {
			if err := change(t.Context(), r, mem); err != nil {
				t.Fatal(err)
			}
		}
		opts := agenttool.Options{MaxMatches: 1 + r.IntN(3), MaxTokens: 200}
		between := func() error { return change(t.Context(), r, mem) }
		args := map[string]any{"pattern": needle, "ignoreCase": ignoreCase}
		if _, err := samePages(t.Context(), opts, agenttool.Grep, args, filtered{mem, new(atomic.Int64)}, scanned{mem}, between); err != nil {
			t.Error(err)
		}
	})
}
