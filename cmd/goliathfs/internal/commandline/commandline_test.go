package commandline_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/commandline"
)

// breaks are those of bash when nothing was changed.
const breaks = " \t\n\"'><=;|&(:"

func TestParse(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                 {""},
		"goliathfs ":                       {"goliathfs", ""},
		"goliathfs cat static:s":           {"goliathfs", "cat", "static:s"},
		`g cat 'a b' "c\"d" e\ f\`:         {"g", "cat", "a b", `c"d`, "e f"},
		`g cat "open q`:                    {"g", "cat", "open q"},
		`g cat '' x`:                       {"g", "cat", "", "x"},
		"A=1 g ls x; B=2 g cat y":          {"g", "cat", "y"},
		"true && g ls ":                    {"g", "ls", ""},
		`g grep 'it'\''s' "a$(b)" "\d" ü `: {"g", "grep", "it's", "a$(b)", `\d`, "ü", ""},
	} {
		if diff := cmp.Diff(want, commandline.Parse(line, breaks).Words); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
	for line, known := range map[string]bool{"g $x": false, `g "a$x`: false, "g `x": false, `g '$x`: true, `g \$x`: true, "g $x y": true} {
		if got := commandline.Parse(line, breaks).Known; got != known {
			t.Errorf("%q is known: %v, want %v", line, got, known)
		}
	}
}

// words are names that a store may have.
var words = []string{
	"/plain.md", "/with space", "/it's", `/a"b`, "/$(touch pwned)", "/`touch pwned`", "/a;touch pwned", "/a&b|c>d<e", `/back\slash`, "/!bang", "~tilde", "/~tilde", "/*?[x]{y}", "/#hash", "/ü漢😀", "/a:b=c",
}

// What is put into a line is read back by it, and by bash, as the word that was meant,
// wherever in the word the cursor was and whatever quote was open.
func TestPut(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("bash is not installed: only this package reads what is put into a line")
	}
	var lines, meant []string
	for _, word := range words {
		for _, typed := range []string{"", "'", `"`, "static:", "'static:", `static:"`} {
			line := "g cat " + typed
			full := strings.Trim(typed, `'"`) + word
			put, ok := commandline.Parse(line, breaks).Put(full)
			if !ok {
				continue
			}
			// Readline replaces what stands behind the open quote, else behind the last break.
			at := strings.LastIndexAny(typed, `'"`) + 1
			whole := line[:len(line)-len(typed)] + typed[:at] + put
			if at > 0 {
				whole += typed[at-1 : at]
			} else {
				whole = line[:len(line)-len(typed)] + typed[:strings.LastIndexAny(typed, breaks)+1] + put
			}
			got := commandline.Parse(whole, breaks)
			if n := len(got.Words); n != 3 || got.Words[2] != full || !got.Known {
				t.Errorf("%q with %q is the line %q: %q, known %v", line, full, whole, got.Words, got.Known)
			}
			lines, meant = append(lines, strings.TrimPrefix(whole, "g cat ")), append(meant, full)
		}
	}
	if bash == "" {
		return
	}
	out, err := exec.CommandContext(t.Context(), bash, "--norc", "-c", "printf '%s\\0' "+strings.Join(lines, " ")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(meant, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); diff != "" {
		t.Errorf("what bash reads (-meant +read):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`g cat 'a b' "c`, "/x y")
	f.Add("g $(x) `y` \\", "/$(x)")
	f.Add("(:))", "6") // which readline replaces up to the colon
	f.Fuzz(func(t *testing.T, line, word string) {
		l := commandline.Parse(line, breaks)
		if len(l.Words) == 0 {
			t.Fatal("there is no last word")
		}
		full := l.Words[len(l.Words)-1] + word
		put, ok := l.Put(full)
		if !ok || !l.Known {
			return
		}
		if strings.ContainsAny(line, "\\'\"") {
			return // what stands before the cursor is replaced too: TestPut
		}
		at := strings.LastIndexAny(line, breaks) + 1
		if again := commandline.Parse(line[:at]+put, breaks); again.Words[len(again.Words)-1] != full {
			t.Errorf("%q with %q is %q", line, full, again.Words)
		}
	})
}
