package agenttool_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// grepAll follows a grep to its end.
func grepAll(t *testing.T, tools *agenttool.Toolset, in args) (matches []agenttool.GrepMatch, skipped []string, pages int) {
	t.Helper()
	for {
		out, err := run[*agenttool.GrepOutput](t, tools, "grep", in)
		if err != nil {
			t.Fatal(err)
		}
		matches, skipped = append(matches, out.Matches...), append(skipped, out.Skipped...)
		pages++
		if in["cursor"] = out.Next(); out.Next() == "" {
			return matches, skipped, pages
		}
	}
}

// at renders matches as path:line:excerpt.
func at(matches []agenttool.GrepMatch) []string {
	out := []string{}
	for _, m := range matches {
		out = append(out, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Excerpt))
	}
	return out
}

func TestGrep(t *testing.T) {
	cases := []struct {
		name, content, pattern string
		caseSensitive          bool
		want                   []string
	}{
		{"one match a line", "aa aa\nb\naa", "aa", false, []string{"1:aa aa", "3:aa"}},
		{"case ignored by default", "Water\nWATER\nwet", "water", false, []string{"1:Water", "2:WATER"}},
		{"case kept", "Water\nwater", "water", true, []string{"2:water"}},
		{"literal, no pattern", "a.c\nabc", "a.c", false, []string{"1:a.c"}},
		{"sigmas fold", "ΟΔΟΣ\nοδος\nοδοσ", "οδοΣ", false, []string{"1:ΟΔΟΣ", "2:οδος", "3:οδοσ"}},
		{"Kelvin folds", "5 \u212A\n5 k", "K", false, []string{"1:5 \u212A", "2:5 k"}},
		{"long s folds", "Wa\u017fser", "wasser", false, []string{"1:Wa\u017fser"}},
		{"dotted I is only itself", "İ\ni\nI", "İ", false, []string{"1:İ"}},
		{"sharp s is no ss", "straße", "strasse", false, []string{}},
		{"lines end at LF only", "a\n\f\nb\u2028\u0085\v\nTARGET\n", "TARGET", true, []string{"4:TARGET"}},
		{"after a long line", strings.Repeat("a", 70000) + "\nTARGET\n", "TARGET", true, []string{"2:TARGET"}},
		{"growing letters before", "İİ error here", "ERROR", false, []string{"1:İİ error here"}},
		{"shrinking letters before", "ȺȺ error", "ERROR", false, []string{"1:ȺȺ error"}},
		{"sharp S before", "ẞ x", "X", false, []string{"1:ẞ x"}},
		{"CR is part of the line", "ab\r\ncd", "b\r", false, []string{"1:ab\r"}},
		{"a pattern with LF", "a\nb", "a\nb", false, []string{}},
		{"BOM before", "\ufeffTitle", "title", false, []string{"1:\ufeffTitle"}},
		{"repeating needle", "aaab\naab", "AAB", false, []string{"1:aaab", "2:aab"}},
		{"excerpt in the middle", strings.Repeat("x", 50) + "hit" + strings.Repeat("y", 200), "hit", true,
			[]string{"1:" + strings.Repeat("x", 30) + "hit" + strings.Repeat("y", 67)}},
		{"excerpt starts at a whole character", "😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀ahit", "hit", true,
			[]string{"1:" + strings.Repeat("😀", 15) + "ahit"}},
	}
	files := map[string]string{}
	for i, c := range cases {
		files[fmt.Sprintf("/%d", i)] = c.content
	}
	for name, b := range stores(t, files) {
		tools := toolset(t, agenttool.Options{Backend: b, MaxTokens: 10000})
		for i, c := range cases {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				path := fmt.Sprintf("/%d", i)
				got, _, _ := grepAll(t, tools, args{"path": path, "pattern": c.pattern, "ignoreCase": !c.caseSensitive})
				want := []string{}
				for _, w := range c.want {
					want = append(want, path+":"+w)
				}
				if diff := cmp.Diff(want, at(got)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		}
	}
}

// Pages of every size are the same matches in the same order.
func TestGrepPages(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("/d%d/f%02d", i%3, i)] = fmt.Sprintf("intro\nhit %d\n\nhit again\n%s", i, strings.Repeat("pad 😀\n", i*20))
	}
	files["/long"] = strings.Repeat(strings.Repeat("z", 9999)+"\n", 20) + "hit\n" + strings.Repeat("y", 70000)
	var want []string
	for name, b := range stores(t, files) {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 3, 7, 100} {
				for _, maxFiles := range []int{0, 1, 5, 128} {
					for _, budget := range []int{90, 512, 100000} {
						tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: size, MaxFiles: maxFiles, MaxTokens: budget})
						got, _, _ := grepAll(t, tools, args{"pattern": "HIT"})
						if want == nil {
							want = at(got)
						}
						if diff := cmp.Diff(want, at(got)); diff != "" {
							t.Fatalf("size %d, %d files, %d tokens: -want +got\n%s", size, maxFiles, budget, diff)
						}
					}
				}
			}
			if len(want) != 101 {
				t.Fatalf("%d matches", len(want))
			}
		})
	}
}

// Where MaxFiles is set, a call scans 65,536 units and the rest of the line it is in,
// then pauses; else it goes on.
func TestGrepScanBound(t *testing.T) {
	for _, c := range []struct {
		name, content string
		pages         int
	}{
		{"one under", strings.Repeat("a", 65535), 1},
		{"many lines", strings.Repeat(strings.Repeat("a", 1023)+"\n", 64) + "b", 2},
		{"two units each", strings.Repeat(strings.Repeat("😀", 511)+"é\n", 64) + "b", 2},
		{"one long line is searched whole", strings.Repeat("a", 300000) + "\nb", 2},
		{"one long last line", strings.Repeat("a", 300000), 1},
	} {
		for maxFiles, want := range map[int]int{0: 1, 128: c.pages, 1024: c.pages} {
			tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/f": c.content}), MaxFiles: maxFiles})
			if _, _, pages := grepAll(t, tools, args{"pattern": "absent"}); pages != want {
				t.Errorf("%s, MaxFiles %d: %d pages, want %d", c.name, maxFiles, pages, want)
			}
		}
	}
}

// faulty fails or mangles reads of some paths.
type faulty struct {
	vfs.Backend
	read func(path string) (vfs.File, error, bool)
}

func (f faulty) Read(ctx context.Context, path string) (vfs.File, error) {
	if file, err, ok := f.read(path); ok {
		return file, err
	}
	return f.Backend.Read(ctx, path)
}

// What cannot be searched is named, and a failing store is an error.
func TestGrepSkipped(t *testing.T) {
	mem := teststore.Memory(t, map[string]string{"/a": "hit", "/bad1": "", "/bad2": "", "/gone": "", "/z": "hit"})
	b := faulty{mem, func(path string) (vfs.File, error, bool) {
		switch path {
		case "/bad1":
			return vfs.File{}, vfs.ErrNotText, true
		case "/bad2":
			return vfs.File{Info: vfs.Info{Path: path, Revision: "r"}, Content: "hit \xff"}, nil, true
		case "/gone":
			return vfs.File{}, vfs.ErrNotFound, true
		}
		return vfs.File{}, nil, false
	}}
	for _, size := range []int{1, 2, 10} {
		for _, budget := range []int{60, 512} {
			tools := toolset(t, agenttool.Options{Backend: b, MaxMatches: size, MaxTokens: budget})
			matches, skipped, _ := grepAll(t, tools, args{"pattern": "hit"})
			if diff := cmp.Diff([]string{"/a:1:hit", "/z:1:hit"}, at(matches)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"/bad1", "/bad2"}, skipped); diff != "" {
				t.Error(diff)
			}
		}
	}
	tools := toolset(t, agenttool.Options{Backend: b})
	if text, _ := call(t, tools, "grep", `{"pattern":"nothing"}`); text != `{"matches":[],"nextCursor":null,"skipped":["/bad1","/bad2"]}` {
		t.Error(text)
	}
	if _, code := call(t, tools, "readFile", `{"path":"/bad2"}`); code != codes.NotText {
		t.Errorf("a read of bytes that are no text: %q", code)
	}
	broken := faulty{mem, func(path string) (vfs.File, error, bool) { return vfs.File{}, errors.New("disk on fire"), path == "/z" }}
	if msg, code := call(t, toolset(t, agenttool.Options{Backend: broken}), "grep", `{"pattern":"hit"}`); code != codes.Store || !strings.Contains(msg, "disk on fire") {
		t.Errorf("%q %s", code, msg)
	}
	if text, code := call(t, tools, "grep", `{"pattern":"hit","path":"/missing"}`); code != "" || text != `{"matches":[],"nextCursor":null}` {
		t.Errorf("a directory that does not exist is empty, got %q %s", code, text)
	}
}

// A search paused inside a file that changed or went refuses to go on.
func TestGrepStale(t *testing.T) {
	for name, b := range stores(t, map[string]string{"/f": strings.Repeat("hit\n", 30), "/z": "hit"}) {
		t.Run(name, func(t *testing.T) {
			tools := toolset(t, agenttool.Options{Backend: b})
			first, err := run[*agenttool.GrepOutput](t, tools, "grep", args{"pattern": "hit"})
			if err != nil {
				t.Fatal(err)
			}
			next := args{"pattern": "hit", "cursor": first.Next()}
			rev := first.Matches[0].Revision
			info, err := vfs.Write(t.Context(), b, "/f", "other", rev)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run[*agenttool.GrepOutput](t, tools, "grep", next); agenttool.CodeOf(err) != codes.StaleCursor {
				t.Errorf("after a change: %v", err)
			}
			if err := vfs.Remove(t.Context(), b, "/f", info.Revision); err != nil {
				t.Fatal(err)
			}
			if _, err := run[*agenttool.GrepOutput](t, tools, "grep", next); agenttool.CodeOf(err) != codes.StaleCursor {
				t.Errorf("after a delete: %v", err)
			}
		})
	}
}

// The first match of a page shows less of its line rather than nothing.
func TestGrepShrinks(t *testing.T) {
	path := "/" + strings.Repeat("p", 40)
	tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{path: strings.Repeat("漢", 99)}), MaxTokens: 80})
	res, err := runAs(t.Context(), tools, agenttool.Scope{}, "grep", args{"pattern": "漢"})
	if err != nil {
		t.Fatal(err)
	}
	excerpt := res.Output.(*agenttool.GrepOutput).Matches[0].Excerpt
	if n := utf8.RuneCountInString(excerpt); n == 0 || n >= 99 || res.Tokens > 80 || res.Tokens < 78 {
		t.Errorf("%d characters, %d tokens", n, res.Tokens)
	}
	small := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{path: "漢"}), MaxTokens: 20})
	for tool, input := range map[string]string{"grep": `{"pattern":"漢"}`, "glob": `{"pattern":"/**"}`} {
		if msg, code := call(t, small, tool, input); code != codes.BudgetTooSmall || !strings.Contains(msg, path) {
			t.Errorf("%s: %q %s", tool, code, msg)
		}
	}
}

// FuzzGrep compares folded and plain search with package regexp.
func FuzzGrep(f *testing.F) {
	f.Add("Kelvin \u212A\nſtraße\nΣίσυφος\n", "k", false)
	f.Add("İstanbul ıI", "i", false)
	f.Add("aaa\naab\n", "aab", true)
	f.Add("ǅ ǆ Ǆ\nﬀ", "ǆ", false)
	f.Add(strings.Repeat("zQ\u212Ak", 900)+"\nzq"+strings.Repeat("Kk", 50)+"z", strings.Repeat("kK", 50)+"z", false)
	f.Fuzz(func(t *testing.T, content, pattern string, caseSensitive bool) {
		if !utf8.ValidString(content) || !utf8.ValidString(pattern) || pattern == "" || len(pattern) > 200 || len(content) > 60000 {
			t.Skip("not what a store or a call can hold")
		}
		flags := "(?i)"
		if caseSensitive {
			flags = ""
		}
		re := regexp.MustCompile(flags + regexp.QuoteMeta(pattern))
		var want []string
		for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
			if re.MatchString(line) && !strings.Contains(pattern, "\n") {
				want = append(want, fmt.Sprintf("/f:%d", i+1))
			}
		}
		tools := toolset(t, agenttool.Options{Backend: teststore.Memory(t, map[string]string{"/f": content}), MaxMatches: 3, MaxTokens: 5000})
		matches, _, _ := grepAll(t, tools, args{"pattern": pattern, "ignoreCase": !caseSensitive})
		var got []string
		for _, m := range matches {
			got = append(got, fmt.Sprintf("%s:%d", m.Path, m.Line))
			if !re.MatchString(m.Excerpt) && utf8.RuneCountInString(pattern) < 40 {
				t.Errorf("the excerpt %q does not show %q", m.Excerpt, pattern)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in %q: -want +got\n%s", pattern, content, diff)
		}
	})
}
