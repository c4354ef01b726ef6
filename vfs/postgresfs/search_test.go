package postgresfs_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// search returns the paths of all pages of a search.
func search(t testing.TB, b vfs.Backend, dir, text string, fold bool, limit int) (paths []string, pages int) {
	t.Helper()
	opts := vfs.SearchOptions{Text: text, Fold: fold, ListOptions: vfs.ListOptions{Limit: limit}}
	for {
		page, err := vfs.Search(t.Context(), b, dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, info := range page.Files {
			paths = append(paths, info.Path)
		}
		if page.Next == "" {
			return paths, pages
		}
		opts.After = page.Next
	}
}

// folded maps each character to the least that is equal under simple case folding.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// Whatever has grams and whatever has none, a search returns every file that holds the
// text, in order, and with grams hardly any other.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	url := suite(t)
	name := namespace()
	s := open(t, url, &postgresfs.Options{Namespace: name})
	letters := []rune("aAbkK\u212aiIıİsſΣςßẞ \x00\r*%_\ue000\U0001F600語漢")
	rng := rand.New(rand.NewPCG(5, 6))
	var files []vfs.File
	content := map[string]string{}
	for i := range 700 {
		text := make([]rune, 40)
		for j := range text {
			text[j] = letters[rng.IntN(len(letters))]
		}
		f := vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/d%d/%c%d", i%3, letters[4+i%9], i), Revision: vfs.Revision(fmt.Sprint("r", i))}, Content: string(text)}
		if i%100 == 7 {
			f.Content += "\nonly in a few"
		}
		files = append(files, f)
		content[f.Path] = f.Content
	}
	if err := s.Restore(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	search(t, s, "/", "anything", false, 0)
	s.AwaitGrams()
	if paths, pages := search(t, s, "/", "ONLY IN", true, 0); len(paths) != 7 || pages != 1 {
		t.Errorf("found %d files in %d pages, want 7 in 1", len(paths), pages)
	}
	if paths, _ := search(t, s, "/", "nowhere at all", true, 0); len(paths) != 0 {
		t.Errorf("a text that is nowhere has the candidates %q", paths)
	}
	changed, last := 0, ""
	for round := range 120 {
		if round%2 == 0 { // some lose their grams
			f := files[rng.IntN(len(files))]
			now, err := vfs.Read(t.Context(), s, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			text := make([]rune, 40)
			for j := range text {
				text[j] = letters[rng.IntN(len(letters))]
			}
			content[f.Path] = string(text)
			write(t, s, f.Path, content[f.Path], now.Revision)
			changed++
			last = f.Path
		}
		source := files[rng.IntN(len(files))].Path
		if round%2 == 1 { // what has just been written
			source = last
		}
		line := []rune(content[source])
		at, n := rng.IntN(30), 1+rng.IntN(10)
		text, dir, fold := strings.ReplaceAll(string(line[at:at+n]), "\n", "a"), []string{"/", "/d1", "/d"}[rng.IntN(3)], rng.IntN(2) == 0
		got, _ := search(t, s, dir, text, fold, 1+rng.IntN(256))
		has := map[string]bool{}
		for _, path := range got {
			has[path] = true
		}
		for path, content := range content {
			holds := strings.Contains(content, text) || fold && strings.Contains(folded(content), folded(text))
			if holds && (dir == "/" || strings.HasPrefix(path, dir+"/")) && !has[path] {
				t.Fatalf("round %d: the search of %s for %q, fold %t, does not return %q", round, dir, text, fold, path)
			}
		}
	}
	if paths, _ := search(t, s, "/", "no such", true, 0); len(paths) > changed {
		t.Errorf("%d candidates of a text that is nowhere, and %d files have no grams", len(paths), changed)
	}
}

// While grams are made and files written, a search misses nothing that stays.
func TestSearchBesideTheJob(t *testing.T) {
	t.Parallel()
	s := open(t, suite(t), &postgresfs.Options{Namespace: namespace(), IndexFrom: 1})
	var want []string
	for i := range 300 {
		path := fmt.Sprintf("/%03d", i)
		write(t, s, path, fmt.Sprintf("a needle %d", i), "")
		want = append(want, path)
	}
	for n := range 30 {
		got, _ := search(t, s, "/", "needle", false, 20)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("search %d (-want +got):\n%s", n, diff)
		}
		path := want[n*7]
		f, err := vfs.Read(t.Context(), s, path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, path, f.Content+"+", f.Revision)
	}
	s.AwaitGrams()
}
