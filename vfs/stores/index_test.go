package stores_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// searched is a store that can have an index of searches.
type searched interface {
	changeable
	vfs.Searcher
	io.Closer
	BuildIndex(ctx context.Context, progress func(gramindex.Progress)) error
	IndexStatus(ctx context.Context) (gramindex.Status, error)
}

// searchedKinds are those stores.
var searchedKinds = append([]string{"memory"}, kinds...)

// openSearched opens an empty store that has an index from so many bytes on.
func openSearched(t testing.TB, kind string, from int64) searched {
	t.Helper()
	if kind != "memory" {
		return open(t, kind, t.TempDir(), options{Relaxed: true, IndexFrom: from}).(searched)
	}
	s, err := memfs.New(nil, &memfs.Options{IndexFrom: from})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reindexing is a store whose index is made anew every so many changes.
type reindexing struct {
	searched
	changes *atomic.Int64
}

func (r reindexing) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	info, err := r.searched.Write(ctx, path, content, expected)
	if err == nil && r.changes.Add(1)%29 == 0 {
		err = r.BuildIndex(ctx, nil)
	}
	return info, err
}

// With the index of each store the pages are the same, cursors included, bare and
// behind each wrapper, while files change in between.
func TestPagesIndexed(t *testing.T) {
	for _, kind := range searchedKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(1) {
				s := openSearched(t, kind, 1)
				if err := s.BuildIndex(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				testPages(t, seed, reindexing{s, new(atomic.Int64)}, s)
				if st, err := s.IndexStatus(t.Context()); err != nil || st.State != "ready" || st.Files == 0 {
					t.Errorf("the index was not in use: %+v, %v", st, err)
				}
			}
		})
	}
}

// grown is how many files the store of TestGrow has in the end.
func grown() int { return testsize.Pick(3_000, 3_000, 200_000) }

// wordOf is in file i and nowhere else.
func wordOf(i int) string { return fmt.Sprintf("word-%d.", i) }

func grownPath(i int) string { return fmt.Sprintf("/%d/%d/%d", i%7, i%100, i) }

// grownText is some lines that hold the word of file i.
func grownText(i int) string {
	return fmt.Sprintf("%x\nthe %s is here\n%x\n", rand.Uint64(), wordOf(i), rand.Uint64())
}

// searchFor returns all candidates for a text.
func searchFor(ctx context.Context, b vfs.Backend, text string) (found []string, err error) {
	for opts := (vfs.SearchOptions{Text: text}); ; {
		page, err := vfs.Search(ctx, b, "/", opts)
		if err != nil {
			return nil, err
		}
		for _, info := range page.Files {
			found = append(found, info.Path)
		}
		if opts.After = page.Next; page.Next == "" {
			return found, nil
		}
	}
}

// A store grows from nothing while it is searched, so that its index is made, falls
// behind, catches up and is merged: at no moment does a search miss a file whose
// write had returned.
func TestGrow(t *testing.T) {
	for _, kind := range searchedKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := openSearched(t, kind, 20_000)
			const writers = 4
			var written [writers]atomic.Int64
			var wg sync.WaitGroup
			var done atomic.Int64
			for w := range writers {
				wg.Go(func() {
					defer done.Add(1)
					for i := w; i < grown(); i += writers {
						if _, err := s.Write(t.Context(), grownPath(i), grownText(i), ""); err != nil {
							t.Error(err)
							return
						}
						written[w].Add(1)
					}
				})
			}
			searches, ready := 0, 0
			for last := false; !last; {
				last = done.Load() == writers
				w := rand.IntN(writers)
				n := int(written[w].Load())
				if n == 0 {
					continue
				}
				for _, k := range []int{n - 1, rand.IntN(n)} { // the last one and any
					i := k*writers + w
					found, err := searchFor(t.Context(), s, wordOf(i))
					if err != nil || !slices.Contains(found, grownPath(i)) {
						t.Fatalf("with %d files a search does not find file %d: %v", n*writers, i, err)
					}
					searches++
				}
				if st, _ := s.IndexStatus(t.Context()); st.State == "ready" {
					ready++
				}
			}
			wg.Wait()
			t.Logf("%d searches, %d moments with an index", searches, ready)
			if err := s.BuildIndex(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			for range 100 {
				i := rand.IntN(grown())
				found, err := searchFor(t.Context(), s, wordOf(i))
				if err != nil || !slices.Contains(found, grownPath(i)) || len(found) > 50 {
					t.Errorf("file %d: %d candidates, %v", i, len(found), err)
				}
			}
		})
	}
}

// writeWords writes files with words into a store, and tells of each.
func writeWords(ctx context.Context, j job, out io.Writer) error {
	s, err := openStore(ctx, j.Kind, j.Dir, j.Options)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range j.Rounds {
		if _, err := s.Write(ctx, fmt.Sprint("/other", grownPath(i)), grownText(i), ""); err != nil {
			return err
		}
		fmt.Fprintln(out, i)
	}
	return nil
}

// Two processes write to one SQLite database. What the other one has told of is found
// by the next search here, with an index.
func TestIndexBesideAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, "sqlite", dir, options{Relaxed: true, IndexFrom: 1}).(searched)
	for i := range 300 {
		if _, err := s.Write(t.Context(), grownPath(i), grownText(i+1_000_000), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.BuildIndex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	const rounds = 60
	p, err := job{Role: "words", Kind: "sqlite", Dir: dir, Rounds: rounds, Options: options{Relaxed: true, IndexFrom: 1}}.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range rounds {
		line, err := p.line()
		if err != nil {
			t.Fatal(err)
		}
		i, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(t.Context(), fmt.Sprint("/own", grownPath(i)), grownText(i+2_000_000), ""); err != nil {
			t.Fatal(err)
		}
		for word, path := range map[string]string{wordOf(i): "/other" + grownPath(i), wordOf(i + 2_000_000): "/own" + grownPath(i), wordOf(i + 1_000_000): grownPath(i)} {
			found, err := searchFor(t.Context(), s, word)
			if err != nil || !slices.Contains(found, path) {
				t.Fatalf("%s in %s: found %q, %v", word, path, found, err)
			}
		}
	}
	if _, err := p.kill(); err != nil {
		t.Error(err)
	}
	if st, err := s.IndexStatus(t.Context()); err != nil || st.State != "ready" {
		t.Errorf("the index was not in use: %+v, %v", st, err)
	}
}
