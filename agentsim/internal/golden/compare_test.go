package golden_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// Two texts that differ are told apart by what can be seen, whatever they hold.
func FuzzChanges(f *testing.F) {
	f.Add("a\n", "a\r\n")
	f.Add("\u00e9\nx", "e\u0301\nx")
	f.Add(`a\r`+"\n", "a\r\n")
	f.Add("a \n", "a·\n")
	f.Add("a", "a⏎ (no final newline)\n")
	f.Add("*\n\n\n\n\n", "\n*\n\n\n\n") // a line that only moved
	f.Add("\ufeff\x1b\xff", `\u{FEFF}\u{001B}\xff`)
	f.Fuzz(func(t *testing.T, want, got string) {
		format := func(text string) []byte { return archive.Format("", []archive.Entry{{Name: "a", Text: text}}) }
		text := golden.Changes(format(want), format(got))
		if (text == "") != (want == got) {
			t.Fatalf("%q and %q: changes %q", want, got, text)
		}
		if text == "" {
			return
		}
		var before, after []string // what the difference shows of either side
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
			case strings.HasPrefix(line, "-"):
				before = append(before, line[1:])
			case strings.HasPrefix(line, "+"):
				after = append(after, line[1:])
			case strings.HasPrefix(line, " "):
				before, after = append(before, line[1:]), append(after, line[1:])
			}
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r != '\t' && visible.Hidden(r) }) {
				t.Fatalf("%q and %q: something is hidden in %q", want, got, line)
			}
		}
		if strings.Join(before, "") == strings.Join(after, "") {
			t.Fatalf("%q and %q look the same:\n%s", want, got, text)
		}
	})
}
