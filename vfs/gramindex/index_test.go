package gramindex_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// store is the least store that has an index.
type store struct {
	x *gramindex.Index

	mu    sync.RWMutex
	files map[string]gramindex.Document
	revs  int
}

func newStore(sz gramindex.Sizes, opts *gramindex.Options) *store {
	s := &store{files: map[string]gramindex.Document{}}
	s.x = gramindex.NewSized(s, opts, sz)
	return s
}

func (s *store) Still(_ context.Context, fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fn()
}

func (s *store) Large(context.Context) (bool, error) { return true, nil }

func (s *store) Scan(ctx context.Context) iter.Seq2[gramindex.Document, error] {
	return func(yield func(gramindex.Document, error) bool) {
		s.mu.RLock()
		files := maps.Clone(s.files)
		s.mu.RUnlock()
		for _, path := range slices.SortedFunc(maps.Keys(files), vpath.Compare) {
			if !yield(files[path], ctx.Err()) {
				return
			}
		}
	}
}

func (s *store) Load(_ context.Context, path string) (gramindex.Document, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d, ok := s.files[path]; ok {
		return d, nil
	}
	return gramindex.Document{Path: path, Kind: gramindex.Gone}, nil
}

func (s *store) stat(path string) (vfs.Info, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, ok := s.files[path]
	if !ok {
		return vfs.Info{}, vfs.ErrNotFound
	}
	return vfs.Info{Path: path, Revision: d.Revision}, nil
}

func (s *store) write(path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revs++
	s.files[path] = gramindex.Document{Path: path, Content: content, Revision: vfs.Revision(fmt.Sprint(s.revs))}
	s.x.Mark(path)
}

func (s *store) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, path)
	s.x.Mark(path)
}

// matches returns the files at or below dir after a bound that a search must give.
func (s *store) matches(dir, after, needle string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []string
	for path, d := range s.files {
		if vpath.Within(path, dir) && vpath.Compare(path, after) > 0 && holds(d.Content, needle) {
			found = append(found, path)
		}
	}
	slices.SortFunc(found, vpath.Compare)
	return found
}

// search follows the pages of a search.
func (s *store) search(ctx context.Context, dir, after, needle string, limit int) (found []string, ok bool, err error) {
	for {
		page, ok, err := s.x.Search(ctx, dir, needle, vfs.ListOptions{After: after, Limit: limit}, s.stat)
		if !ok || err != nil {
			return nil, ok, err
		}
		if len(page.Files) > limit {
			return nil, true, fmt.Errorf("a page of %d has %d files", limit, len(page.Files))
		}
		for _, info := range page.Files {
			if vpath.Compare(after, info.Path) >= 0 || !vpath.Within(info.Path, dir) {
				return nil, true, fmt.Errorf("%s is out of order or place after %s in %s", info.Path, after, dir)
			}
			after = info.Path
			found = append(found, info.Path)
		}
		if page.Next == "" {
			return found, true, nil
		}
		if page.Next != after {
			return nil, true, fmt.Errorf("next is %q after %q", page.Next, after)
		}
	}
}

// missing returns what is in want and not in got.
func missing(want, got []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(p string) bool { return slices.Contains(got, p) })
}

// names are chosen so that files and directories share them, and for their order.
var names = []string{"a", "a-x", "b", "\ue000", "😀", "z z"}

func randomPath() string {
	path := ""
	for range 1 + rand.IntN(3) {
		path += "/" + names[rand.IntN(len(names))]
	}
	return path
}

var smallSizes = gramindex.Sizes{Block: 8, Fresh: 4, Changed: 64}

// Whatever is written, removed, merged and made anew in between, no search misses a
// file that holds the needle, and each page follows the one before.
func TestSearchMissesNothing(t *testing.T) {
	for seed := range 20 {
		s := newStore(smallSizes, nil)
		ready := false
		for step := range 400 {
			switch rand.IntN(8) {
			case 0:
				s.remove(randomPath())
			case 1:
				if rand.IntN(20) == 0 {
					if err := s.x.Build(t.Context(), nil); err != nil {
						t.Fatal(err)
					}
				}
			case 2:
				s.x.Quiet()
			case 3, 4:
				needle := strings.ReplaceAll(randomText(1+rand.IntN(4)), "\n", "b")
				dir := cmp.Or(strings.Repeat(randomPath(), rand.IntN(2)), "/")
				after := strings.Repeat(randomPath(), rand.IntN(2))
				got, ok, err := s.search(t.Context(), dir, after, needle, 1+rand.IntN(5))
				if err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
				if !ok {
					continue
				}
				ready = true
				if lost := missing(s.matches(dir, after, needle), got); len(lost) > 0 {
					t.Fatalf("seed %d step %d: search of %q in %s after %q misses %q", seed, step, needle, dir, after, lost)
				}
			default:
				s.write(randomPath(), randomText(rand.IntN(30)))
			}
		}
		if !ready {
			t.Error("the index never answered")
		}
		if err := s.x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An index that knows all files names those that hold a short needle and no others.
func TestSearchIsExact(t *testing.T) {
	s := newStore(smallSizes, nil)
	defer s.x.Close()
	for range 300 {
		s.write(randomPath(), randomText(rand.IntN(30)))
	}
	s.mu.Lock()
	s.files["/opaque"] = gramindex.Document{Path: "/opaque", Kind: gramindex.Opaque, Revision: "o"}
	s.files["/broken"] = gramindex.Document{Path: "/broken", Content: "\xff", Revision: "b"}
	s.mu.Unlock()
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		needle := shortNeedle()
		got, ok, err := s.search(t.Context(), "/", "", needle, 7)
		want := append(s.matches("/", "", needle), "/opaque", "/broken")
		slices.SortFunc(want, vpath.Compare)
		if err != nil || !ok || !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("%q: %q, %v, %v, want %q", needle, got, ok, err, want)
		}
	}
}

// Every gram of a needle counts: a file that lacks one is no candidate, though each other
// file has it, and neither is one that is gone. The store is asked of candidates only.
func TestCandidatesHaveEveryGram(t *testing.T) {
	const needle = "abcdefgh"
	s := newStore(gramindex.Sizes{Block: 64, Fresh: 4, Changed: 1000}, nil)
	defer s.x.Close()
	lacking := func(skip int) (text string) {
		for i := range len(needle) - 2 {
			if i != skip {
				text += needle[i:i+3] + "\n"
			}
		}
		return text
	}
	for i := range len(needle) - 2 {
		s.write(fmt.Sprintf("/lacks/%d", i), lacking(i))
		s.write(fmt.Sprintf("/goes/%d", i), needle)
	}
	s.write("/has", needle)
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range len(needle) - 2 {
		s.remove(fmt.Sprintf("/goes/%d", i))
	}
	s.x.Ready(t.Context())
	s.x.Quiet() // so that the segments know
	var asked []string
	_, ok, err := s.x.Search(t.Context(), "/", needle, vfs.ListOptions{Limit: 256}, func(path string) (vfs.Info, error) {
		asked = append(asked, path)
		return s.stat(path)
	})
	if !ok || err != nil || !slices.Equal(asked, []string{"/has"}) {
		t.Errorf("asked of %q, %v, %v, want /has alone", asked, ok, err)
	}
}

// An index from which too many files differ is not used until it is made anew: looking
// at each of them would cost as much as no index.
func TestTooManyChanges(t *testing.T) {
	s := newStore(gramindex.Sizes{Block: 8, Fresh: 1000, Changed: 10}, nil)
	defer s.x.Close()
	s.write("/a", "needle")
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if state := s.x.Status().State; state != "ready" {
			t.Fatalf("after %d changes it is %s", i, state)
		}
		s.write(fmt.Sprintf("/%d", i), "text")
	}
	if state := s.x.Status().State; state != "building" {
		t.Errorf("after 10 changes it is %s", state)
	}
	if _, ok, err := s.search(t.Context(), "/", "", "needle", 9); ok || err != nil {
		t.Errorf("it is used: %v, %v", ok, err)
	}
	s.x.Quiet() // the search has it made
	if got, ok, err := s.search(t.Context(), "/", "", "needle", 9); !ok || err != nil || !slices.Equal(got, []string{"/a"}) {
		t.Errorf("made anew it gives %q, %v, %v", got, ok, err)
	}
}

// Segments of like size are merged, and few are left.
func TestTiers(t *testing.T) {
	s := newStore(smallSizes, nil)
	defer s.x.Close()
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		s.write(fmt.Sprintf("/%04d", rand.IntN(10_000)), "text")
		if i%10 == 0 {
			s.x.Ready(t.Context())
			s.x.Quiet()
		}
	}
	segs := s.x.Segments()
	for i := 1; i < len(segs); i++ {
		if segs[i-1] <= segs[i] {
			t.Errorf("segments of %v files: one is no larger than its successor", segs)
		}
	}
	if st := s.x.Status(); len(segs) > 8 || st.State != "ready" || st.Files < len(s.files)-s.x.Status().Changed {
		t.Errorf("segments of %v files, status %+v, for %d files", segs, st, len(s.files))
	}
}

// Writers, searches and builds at once: what was written before a search began is
// found by it.
func TestConcurrently(t *testing.T) {
	s := newStore(smallSizes, nil)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 300 {
				path := fmt.Sprintf("/%d/%d", w, i%50)
				word := fmt.Sprintf("w%dx%d", w, i)
				s.write(path, "some "+word)
				got, ok, err := s.search(t.Context(), "/", "", word, 10)
				if err != nil || ok && !slices.Contains(got, path) {
					t.Errorf("%s in %s: %q, %v", word, path, got, err)
				}
				if i%100 == 50 {
					if err := s.x.Build(t.Context(), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(s.x.Close(), s.x.Close()); err != nil {
		t.Error(err)
	}
	if _, ok, err := s.search(t.Context(), "/", "", "w", 10); ok || err != nil {
		t.Errorf("a closed index answers: %v, %v", ok, err)
	}
}

// A search or build whose context ends says so.
func TestCanceled(t *testing.T) {
	s := newStore(smallSizes, nil)
	defer s.x.Close()
	for i := range 100 {
		s.write(fmt.Sprint("/", i), "text")
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.x.Build(ctx, func(p gramindex.Progress) {
		if p.Files == 50 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || s.x.Status().State != "none" {
		t.Errorf("Build: %v, then %+v", err, s.x.Status())
	}
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.search(ctx, "/", "", "text", 10); ok && !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v, %v", ok, err)
	}
}
