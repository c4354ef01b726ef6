package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// With an index the store is the same store.
func TestIndexedBackend(t *testing.T) {
	t.Parallel()
	conforms(t, config(func(t *testing.T, dir string, seed map[string]string) *badgerfs.FS {
		s := open(t, dir, &badgerfs.Options{Relaxed: true, IndexFrom: 1})
		vfstest.Seed(t, s, seed)
		buildIndex(t, s)
		return s
	}))
}

func buildIndex(t testing.TB, s *badgerfs.FS) {
	t.Helper()
	if err := s.BuildIndex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// word is what the file at path holds, and no other one.
func word(path string) string { return "word of " + strings.ReplaceAll(path, "/", "_") + "." }

// fillWords writes n files below dir, each with its word.
func fillWords(ctx context.Context, s *badgerfs.FS, dir string, n int) error {
	writes := make([]badgerfs.Write, n)
	for i := range writes {
		path := fmt.Sprintf("%s/%05d", dir, i)
		writes[i] = badgerfs.Write{Path: path, Content: word(path)}
	}
	for _, res := range s.WriteAll(ctx, writes) {
		if res.Err != nil {
			return res.Err
		}
	}
	return nil
}

// search returns all candidates for a text.
func search(t testing.TB, s *badgerfs.FS, text string) (found []string) {
	t.Helper()
	for opts := (vfs.SearchOptions{Text: text}); ; {
		page, err := vfs.Search(t.Context(), s, "/", opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Files {
			found = append(found, info.Path)
		}
		if opts.After = page.Next; page.Next == "" {
			return found
		}
	}
}

// finds checks that each of these files is found by its word, and reports how many
// candidates there were in all.
func finds(t testing.TB, s *badgerfs.FS, paths []string) (candidates int) {
	t.Helper()
	for _, path := range paths {
		found := search(t, s, word(path))
		candidates += len(found)
		if !slices.Contains(found, path) {
			t.Errorf("a search of %q does not find %s", word(path), path)
		}
	}
	return candidates
}

func indexState(t testing.TB, s *badgerfs.FS) string {
	t.Helper()
	st, err := s.IndexStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st.State
}

func indexFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "index", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func closed(t testing.TB, s *badgerfs.FS) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that changes while an index is made is known to whoever opens the index as one
// that has changed, though what was noted of it before goes.
func TestIndexOfWhatChangesMeanwhile(t *testing.T) {
	dir := t.TempDir()
	opts := &badgerfs.Options{IndexFrom: -1}
	s := open(t, dir, opts)
	if err := fillWords(t.Context(), s, "/a", 30); err != nil {
		t.Fatal(err)
	}
	changes := 0
	err := s.BuildIndex(t.Context(), func(gramindex.Progress) {
		changes++
		info, err := s.Stat(t.Context(), "/a/00007")
		if err == nil {
			_, err = s.Write(t.Context(), "/a/00007", word(fmt.Sprint("/changed", changes)), info.Revision)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil || changes == 0 {
		t.Fatal(changes, err)
	}
	closed(t, s)
	s = open(t, dir, opts)
	if found := search(t, s, word(fmt.Sprint("/changed", changes))); !slices.Contains(found, "/a/00007") || indexState(t, s) != "ready" {
		t.Errorf("after %d changes found %q, index %s", changes, found, indexState(t, s))
	}
	closed(t, s)
}

// A search of a large store makes an index, which is there after it was closed, knows
// what was changed without it being loaded, and is read by a store that is only read.
func TestIndexIsKept(t *testing.T) {
	dir := t.TempDir()
	opts := &badgerfs.Options{IndexFrom: 1000, Relaxed: true}
	s := open(t, dir, opts)
	if err := fillWords(t.Context(), s, "/a", 300); err != nil {
		t.Fatal(err)
	}
	if n, err := s.DirtyKeys(); n != 0 || err != nil {
		t.Errorf("before there is an index, %d dirty keys, %v", n, err)
	}
	finds(t, s, []string{"/a/00007"})
	s.AwaitIndex()
	if n := finds(t, s, []string{"/a/00007", "/a/00299"}); n != 2 {
		t.Errorf("%d candidates for 2 words", n)
	}
	closed(t, s)

	s = open(t, dir, opts)
	rev := write(t, s, "/b", word("/b"))
	info, err := s.Stat(t.Context(), "/a/00007")
	if err == nil {
		_, err = s.Write(t.Context(), "/a/00007", word("/other"), info.Revision)
	}
	if err == nil {
		err = s.Remove(t.Context(), "/b", rev)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.DirtyKeys(); n != 2 || err != nil {
		t.Errorf("%d dirty keys, %v, want 2", n, err)
	}
	closed(t, s)

	for _, readOnly := range []bool{true, false} {
		o := *opts
		o.ReadOnly = readOnly
		s = open(t, dir, &o)
		if found := search(t, s, word("/other")); !slices.Equal(found, []string{"/a/00007"}) || indexState(t, s) != "ready" {
			t.Errorf("read-only %v: found %q, index %s", readOnly, found, indexState(t, s))
		}
		sound(t, s)
		closed(t, s)
	}
}

// Segments that many changes make are kept too, dirty keys go, and nothing is left
// over in the directory.
func TestIndexFollows(t *testing.T) {
	dir := t.TempDir()
	opts := &badgerfs.Options{IndexFrom: 1, Relaxed: true}
	s := open(t, dir, opts)
	buildIndex(t, s)
	for i := range 6 {
		if err := fillWords(t.Context(), s, fmt.Sprint("/", i), 300); err != nil {
			t.Fatal(err)
		}
		finds(t, s, []string{fmt.Sprintf("/%d/00001", i)})
		s.AwaitIndex()
	}
	n, err := s.DirtyKeys()
	if st, _ := s.IndexStatus(t.Context()); err != nil || n >= 256 || st.Changed != n || st.Files < 1800-n {
		t.Errorf("%d dirty keys, %v, %+v", n, err, st)
	}
	if names := indexFiles(t, dir); len(names) > 4 {
		t.Errorf("files of the index: %q", names)
	}
	if n := finds(t, s, []string{"/0/00000", "/3/00299", "/5/00100"}); n > 3*(3+n) {
		t.Errorf("%d candidates", n)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names := indexFiles(t, dir); len(names) != 2 {
		t.Errorf("after Compact: %q", names)
	}
	sound(t, s)
	closed(t, s)
	s = open(t, dir, opts)
	finds(t, s, []string{"/0/00000", "/5/00100"})
	sound(t, s)
}

// Each namespace has an index of its own.
func TestIndexOfNamespaces(t *testing.T) {
	dir := t.TempDir()
	opts := &badgerfs.Options{IndexFrom: 1, Relaxed: true}
	s := open(t, dir, opts)
	other, err := s.Namespace("other")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fillWords(t.Context(), s, "/a", 10), fillWords(t.Context(), other, "/b", 10)); err != nil {
		t.Fatal(err)
	}
	buildIndex(t, s)
	buildIndex(t, other)
	write(t, other, "/late", word("/late"))
	for _, again := range []bool{false, true} {
		if found := search(t, s, word("/b/00001")); len(found) != 0 {
			t.Errorf("again %v: found %q in another namespace", again, found)
		}
		finds(t, other, []string{"/b/00001", "/late"})
		if a, b := indexState(t, s), indexState(t, other); a != "ready" || b != "ready" {
			t.Errorf("again %v: indexes are %s and %s", again, a, b)
		}
		if again {
			break
		}
		closed(t, other)
		closed(t, s)
		s = open(t, dir, opts)
		if other, err = s.Namespace("other"); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, other)
}

// Whatever is wrong with the files of an index, searches miss nothing, a check tells
// of it, and the index is made anew.
func TestSpoiltIndex(t *testing.T) {
	opts := &badgerfs.Options{IndexFrom: 1, Relaxed: true}
	each := func(ext string, change func(data []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range indexFiles(t, dir) {
				if filepath.Ext(name) != ext {
					continue
				}
				data, err := os.ReadFile(name)
				if err == nil {
					err = os.WriteFile(name, change(data), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flip := func(data []byte) []byte {
		i := rand.IntN(8 * len(data))
		data[i/8] ^= 1 << (i % 8)
		return data
	}
	type spoilt struct {
		name  string
		spoil func(t *testing.T, dir string)
		quiet bool // nothing is told
	}
	tests := []spoilt{
		{"no manifest", func(t *testing.T, dir string) { removeAll(t, dir, "*.index") }, true},
		{"no directory", func(t *testing.T, dir string) { removeAll(t, dir, "") }, true},
		{"no part", func(t *testing.T, dir string) { removeAll(t, dir, "*.grams") }, false},
		{"empty part", each(".grams", func([]byte) []byte { return nil }), false},
		{"cut part", each(".grams", func(data []byte) []byte { return data[:len(data)/2] }), false},
		{"zeros in a part", each(".grams", func(data []byte) []byte { clear(data[20:60]); return data }), false},
		{"another version", each(".index", func(data []byte) []byte {
			return []byte(strings.Replace(string(data), `"version": 1`, `"version": 2`, 1))
		}), false},
		{"empty manifest", each(".index", func([]byte) []byte { return nil }), false},
		{"null", each(".index", func([]byte) []byte { return []byte("null\n") }), false},
		{"an old state", func(t *testing.T, dir string) {
			s := open(t, dir, opts)
			if err := s.ForgetIndexed(); err != nil {
				t.Fatal(err)
			}
			closed(t, s)
		}, false},
	}
	for range 12 {
		tests = append(tests, spoilt{"bit of a part", each(".grams", flip), false}, spoilt{"bit of a manifest", each(".index", flip), false})
	}
	whole := t.TempDir()
	s := open(t, whole, opts)
	if err := fillWords(t.Context(), s, "/a", 100); err != nil {
		t.Fatal(err)
	}
	buildIndex(t, s)
	closed(t, s)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, dir)
			read := open(t, dir, &badgerfs.Options{IndexFrom: 1, ReadOnly: true})
			told := 0
			if _, err := read.Check(t.Context(), func(p badgerfs.Problem) {
				if told++; !errors.Is(p.Err, badgerfs.ErrIndex) || !strings.HasPrefix(p.File, "index/") {
					t.Errorf("told of %+v", p)
				}
			}); err != nil || told == 0 != tt.quiet {
				t.Errorf("Check told %d times, %v", told, err)
			}
			finds(t, read, []string{"/a/00000", "/a/00050", "/a/00099"})
			closed(t, read)
			s := open(t, dir, opts)
			all := []string{"/a/00000", "/a/00050", "/a/00099"}
			finds(t, s, all)
			for i := range 100 { // until every part that is damaged was looked at
				finds(t, s, []string{fmt.Sprintf("/a/%05d", i)})
			}
			s.AwaitIndex()
			finds(t, s, all)
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			sound(t, s)
		})
	}
}

func removeAll(t *testing.T, dir, pattern string) {
	t.Helper()
	names := []string{filepath.Join(dir, "index")}
	if pattern != "" {
		var err error
		if names, err = filepath.Glob(filepath.Join(dir, "index", pattern)); err != nil || len(names) == 0 {
			t.Fatalf("%s: %q, %v", pattern, names, err)
		}
	}
	for _, name := range names {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
}

// indexForever fills a store and searches it, so that segments are made and merged,
// until it is killed.
func indexForever(ctx context.Context, dir string, out io.Writer) error {
	s, err := badgerfs.Open(ctx, dir, &badgerfs.Options{IndexFrom: 1, Relaxed: rand.IntN(2) == 0})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open")
	for i := 0; err == nil; i++ {
		err = fillWords(ctx, s, fmt.Sprintf("/%d-%d", time.Now().UnixNano(), i), 60)
		if err == nil {
			_, err = s.Search(ctx, "/", vfs.SearchOptions{Text: "word"})
		}
		if err == nil && rand.IntN(20) == 0 {
			err = s.BuildIndex(ctx, nil)
		}
		fmt.Fprintln(out, "step")
	}
	return err
}

// A process that is killed while it writes an index leaves one that misses nothing,
// and no file that the next one does not remove.
func TestKillWhileIndexing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ready, rounds := 0, testsize.Pick(2, 5, 30)
	for range rounds {
		p := start(t, "index", dir)
		for range 1 + rand.IntN(40) {
			p.line()
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // the moment is any
		p.kill()
		s := open(t, dir, &badgerfs.Options{MustExist: true, IndexFrom: 1})
		if indexState(t, s) == "ready" {
			ready++
		}
		all := paths(t, s, "/")
		for range 30 {
			finds(t, s, []string{all[rand.IntN(len(all))]})
		}
		finds(t, s, all[max(0, len(all)-30):]) // the last ones
		s.AwaitIndex()
		sound(t, s)
		closed(t, s)
	}
	t.Logf("%d of %d times there was an index", ready, rounds)
	if names := indexFiles(t, dir); len(names) > 8 {
		t.Errorf("files of the index: %q", names)
	}
}
