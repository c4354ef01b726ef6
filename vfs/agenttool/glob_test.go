package agenttool_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func globAll(t *testing.T, tools *agenttool.Toolset, pattern string) (paths []string, pages int) {
	t.Helper()
	cursor := ""
	paths = []string{}
	for {
		out, err := run[*agenttool.GlobOutput](t, tools, "glob", args{"pattern": pattern, "cursor": cursor})
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		pages++
		for _, m := range out.Matches {
			paths = append(paths, m.Path)
		}
		if cursor = out.Next(); cursor == "" {
			return paths, pages
		}
	}
}

// The recorded cases ask a pattern about one path each; paths that cannot be
// files have no answer here, because no store lists them.
func TestGlobCases(t *testing.T) {
	var data struct{ Cases [][]any }
	loadJSON(t, "globs.json", &data)
	want := map[string]map[string]bool{}
	files := map[string]string{}
	for _, c := range data.Cases {
		pattern, path := c[0].(string), c[1].(string)
		if vpath.CheckFile(path) != nil {
			continue
		}
		files[path] = ""
		if want[pattern] == nil {
			want[pattern] = map[string]bool{}
		}
		want[pattern][path] = c[2].(bool)
	}
	for name, b := range stores(t, files) {
		t.Run(name, func(t *testing.T) {
			for pattern, paths := range want {
				for _, maxFiles := range []int{0, 1, 1024} {
					tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: 100, MaxFiles: maxFiles, MaxTokens: 100000})
					found, _ := globAll(t, tools, pattern)
					got := map[string]bool{}
					for _, p := range found {
						got[p] = true
					}
					for path, match := range paths {
						if got[path] != match {
							t.Errorf("%s matches %s: %v, want %v", pattern, path, got[path], match)
						}
					}
				}
			}
		})
	}
}

// What ** and * reach.
func TestGlobDepth(t *testing.T) {
	b := teststore.Memory(t, map[string]string{"/A.md": "", "/s/B.md": "", "/s/t/C.md": "", "/s": ""})
	tools := toolset(t, agenttool.Options{Backend: b})
	for pattern, want := range map[string][]string{
		"/**/*.md":   {"/A.md", "/s/B.md", "/s/t/C.md"},
		"/s/**/*.md": {"/s/B.md", "/s/t/C.md"},
		"/s/**":      {"/s/B.md", "/s/t/C.md"},
		"/**":        {"/A.md", "/s", "/s/B.md", "/s/t/C.md"},
		"/s/**/":     {"/s/B.md", "/s/t/C.md"}, // slashes collapse
		"//s//*.md/": {"/s/B.md"},
		"/s//B.md/":  {"/s/B.md"},
		"//":         {},
		"/*/":        {}, // but not in a pattern that names nothing
		"//**":       {},
		"/*":         {"/A.md", "/s"},
		"/*/*":       {"/s/B.md"},
		"/s":         {"/s"},
	} {
		got, _ := globAll(t, tools, pattern)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", pattern, diff)
		}
	}
}

func TestGlobPages(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("/d%d/file %02d.md", i%4, i)] = ""
		files[fmt.Sprintf("/d%d/😀%02d.txt", i%4, i)] = ""
	}
	for name, b := range stores(t, files) {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, size := range []int{1, 3, 10, 100} {
				for _, maxFiles := range []int{0, 1, 128} {
					for _, budget := range []int{60, 512, 100000} {
						tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: size, MaxFiles: maxFiles, MaxTokens: budget})
						got, _ := globAll(t, tools, "/**/*.md")
						if want == nil {
							want = got
						}
						if diff := cmp.Diff(want, got); diff != "" || len(got) != 60 {
							t.Fatalf("size %d files %d budget %d: %d matches\n%s", size, maxFiles, budget, len(got), diff)
						}
					}
				}
			}
		})
	}
}

// A pattern looks only where its fixed beginning can be.
func TestGlobPrefixBound(t *testing.T) {
	files := map[string]string{"/docs/a.md": "", "/docs/b.md": ""}
	for i := range 500 {
		files[fmt.Sprintf("/a/k/%03d", i)] = ""
		files[fmt.Sprintf("/docs/z%03d", i)] = ""
	}
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, files)})
	for _, pattern := range []string{"/docs/a*", "/docs/a.md", "/docs/[*"} {
		if _, pages := globAll(t, tools, pattern); pages != 1 {
			t.Errorf("%s took %d pages", pattern, pages)
		}
	}
}

// A subtree in which nothing can match costs one file, not all of its own.
func TestGlobSkipsSubtrees(t *testing.T) {
	files := map[string]string{"/zz.go": "", "/b/a.go": ""}
	for i := range 300 {
		files[fmt.Sprintf("/a/k/%03d", i)] = ""
		files[fmt.Sprintf("/b/x/%03d", i)] = ""
		files[fmt.Sprintf("/b/x/y/%03d", i)] = ""
	}
	for name, b := range stores(t, files) {
		tools := toolset(t, agenttool.Options{Backend: b, MaxFiles: 5})
		for pattern, want := range map[string]string{"/*.go": "/zz.go", "/?/*.go": "/b/a.go", "/*/a.go": "/b/a.go"} {
			got, pages := globAll(t, tools, pattern)
			if len(got) != 1 || got[0] != want || pages > 2 {
				t.Errorf("%s %s: %v in %d pages", name, pattern, got, pages)
			}
		}
	}
}

// FuzzGlob compares with a translation to a regular expression.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"/**/*.md", "/a/**/b", "/***", "/**a*", "/?/b", "/a**/b", "/**/**/x", "/{a,b}[c]", "/**/", "//a/**/", "/a//b/"} {
		f.Add(p, "/a/x.md")
		f.Add(p, "/a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		clean, err := vpath.CleanFile(path)
		if err != nil || len(pattern) > 60 || !utf8.ValidString(pattern) || strings.Contains(pattern, "\n") || strings.Count(pattern, "*") > 12 {
			t.Skip("no store lists such a path")
		}
		tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{clean: ""}), MaxTokens: 100000})
		out, err := run[*agenttool.GlobOutput](t, tools, "glob", args{"pattern": pattern})
		if err != nil {
			if agenttool.CodeOf(err) != codes.InvalidArgument {
				t.Error(err)
			}
			return
		}
		if got, want := len(out.Matches) == 1, globRegexp(pattern).MatchString(clean); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, clean, got, want)
		}
	})
}

func globRegexp(pattern string) *regexp.Regexp {
	if strings.Trim(pattern, "/*?") != "" { // it names something
		pattern = "/" + strings.Trim(regexp.MustCompile("/+").ReplaceAllString(pattern, "/"), "/")
	}
	expr := `(?s)\A`
	for i := 0; i < len(pattern); {
		switch rest := pattern[i:]; {
		case strings.HasPrefix(rest, "**/") && i > 0 && pattern[i-1] == '/':
			expr, i = expr+`(?:.*/)?`, i+3
		case strings.HasPrefix(rest, "**"):
			expr, i = expr+`.*`, i+2
		case rest[0] == '*':
			expr, i = expr+`[^/]*`, i+1
		case rest[0] == '?':
			expr, i = expr+`[^/]`, i+1
		default:
			_, size := utf8.DecodeRuneInString(rest)
			expr, i = expr+regexp.QuoteMeta(rest[:size]), i+size
		}
	}
	return regexp.MustCompile(expr + `\z`)
}
