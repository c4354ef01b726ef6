package gitignore_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/gitignore"
	"github.com/goliathfs/goliathfs/internal/testsize"
)

func rules(t testing.TB, files map[string]string) *gitignore.Rules {
	t.Helper()
	r := new(gitignore.Rules)
	for dir, text := range files {
		if err := r.Add(dir, text); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		text         string
		ignored, not []string // a directory ends in "/"
	}{
		{"", []string{".git/", ".git", "sub/.git/", ".git/config"}, []string{"a", ".gitignore", ".github/"}},
		{"*.log\n!keep.log\n", []string{"a.log", "d/b.log"}, []string{"keep.log", "d/keep.log", "log"}},
		{"build/\n", []string{"build/", "build/x", "d/build/x"}, []string{"build", "builder/"}},
		{"/top\nd/mid\n", []string{"top", "top/x", "d/mid"}, []string{"d/top", "x/d/mid"}},
		{"a/**/b\n**/z\nt/**\n", []string{"a/b", "a/x/b", "a/x/y/b", "z", "q/z", "t/x", "t/x/y"}, []string{"ab", "t", "xa/b"}},
		{"d/\n!d/keep\n", []string{"d/keep", "d/"}, []string{"e"}},
		{"\\#a\n\\!b\nc\\ \nd   \n# e\n", []string{"#a", "!b", "c ", "d"}, []string{"e", "# e", "c"}},
		{"[ab].c\n[!x]y\n[]-]z\n[[:digit:]a-c]q\n", []string{"a.c", "zy", "]z", "-z", "7q", "bq"}, []string{"c.c", "xy", "dq"}},
		{"a?c\n", []string{"abc"}, []string{"a/c", "ac", "aéc"}},
		{"\ufeffx\r\ny\r\n", []string{"x", "y"}, []string{"x\r"}},
		{"[\n\\\n[[:none:]]\n", nil, []string{"[", "\\", "n"}},
	} {
		r := rules(t, map[string]string{".": c.text})
		for _, name := range c.ignored {
			if !r.Ignored(strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/")) {
				t.Errorf("%q does not name %s", c.text, name)
			}
		}
		for _, name := range c.not {
			if r.Ignored(strings.TrimSuffix(name, "/"), strings.HasSuffix(name, "/")) {
				t.Errorf("%q names %s", c.text, name)
			}
		}
	}
}

// A file in a directory goes before those above it, and is about what is below it.
func TestNearestDecides(t *testing.T) {
	r := rules(t, map[string]string{".": "*.log\n", "d": "!a.log\n/x\n"})
	for name, want := range map[string]bool{"a.log": true, "d/a.log": false, "d/b.log": true, "d/e/a.log": false, "d/x": true, "x": false, "d/e/x": false} {
		if got := r.Ignored(name, false); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTooLong(t *testing.T) {
	if err := new(gitignore.Rules).Add(".", strings.Repeat("a\n", gitignore.MaxSize)); err == nil {
		t.Error("it was taken")
	}
}

// What git lists as untracked is what no rule names, for random rules.
func TestAsGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed, so there is nothing to compare with")
	}
	for seed := range testsize.Pick[uint64](25, 25, 1000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		run := func(args ...string) string {
			cmd := exec.Command(git, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+dir)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %q: %v", args, err)
			}
			return string(out)
		}
		run("init", "-q")
		files := tree(t, dir, rng)
		text := map[string]string{}
		for _, at := range []string{".", "a", "a/b"} {
			if at != "." && rng.IntN(2) == 0 {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, at)); err != nil || !info.IsDir() {
				continue
			}
			text[at] = lines(rng)
			if err := os.WriteFile(filepath.Join(dir, at, ".gitignore"), []byte(text[at]), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, filepath.Join(at, ".gitignore"))
		}
		got := []string{}
		r := rules(t, text)
		for _, name := range files {
			if !r.Ignored(name, false) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		want := strings.FieldsFunc(run("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"), func(r rune) bool { return r == 0 })
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, %q (-git +rules):\n%s", seed, text, diff)
		}
	}
}

// tree makes files with short names.
func tree(t *testing.T, dir string, rng *rand.Rand) []string {
	t.Helper()
	names := []string{"a", "b", "ab", "a.b", "-", "[a]", "b a", "#", "!a", "é"}
	for range 60 {
		parts := []string{dir}
		for range 1 + rng.IntN(4) {
			parts = append(parts, names[rng.IntN(len(names))])
		}
		name := filepath.Join(parts...)
		if os.MkdirAll(filepath.Dir(name), 0o700) != nil {
			continue // a file is in the way
		}
		_ = os.WriteFile(name, nil, 0o600) // so is a directory
	}
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if e.Name() == ".git" {
			return fs.SkipDir
		}
		if e.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func lines(rng *rand.Rand) string {
	words := []string{"a", "b", "ab", "*", "**", "?", "/", "/", "!", "[ab]", "[!a]", "\\", " ", "#", "-", "[", "]", ".", "é", "[[:alpha:]]", "[a-b]"}
	var b strings.Builder
	for range 1 + rng.IntN(4) {
		if rng.IntN(4) == 0 {
			b.WriteString("!")
		}
		for range 1 + rng.IntN(5) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A pattern that is made to be slow is not.
func BenchmarkHostile(b *testing.B) {
	for _, text := range []string{"abc", strings.Repeat("*a", 200) + "b", strings.Repeat("**/", 200) + "b", strings.Repeat("[a-z]*", 200) + "!"} {
		r := rules(b, map[string]string{".": text})
		name := strings.Repeat("a", 250) + "/" + strings.Repeat("a", 250)
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			for b.Loop() {
				r.Ignored(name, false)
			}
		})
	}
}

func FuzzIgnored(f *testing.F) {
	f.Add("a/**/b\n[!x]*\\ \n", "a/b")
	f.Add("[[:alpha:]-]\n!**\n", "é/.git")
	f.Add("0", "/a")
	f.Add("0", "/")
	f.Fuzz(func(t *testing.T, text, name string) {
		r := new(gitignore.Rules)
		if r.Add(".", text) != nil {
			return
		}
		if r.Ignored(name, false) && !r.Ignored(name, true) && !strings.Contains(text, "!") {
			t.Fatalf("%q names the file %q and not the directory", text, name)
		}
	})
}
