package visible_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/visible"
)

func TestLine(t *testing.T) {
	one, two := errors.New("one"), errors.New("two\x1b[m")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{one, "one"},
		{errors.Join(one, two), `one; two\u{001B}[m`},
		{fmt.Errorf("close: %w", errors.Join(one, errors.Join(two, one))), `close: one; two\u{001B}[m; one`},
		{errors.New("an argument\nof two lines"), `an argument\u{000A}of two lines`},
	} {
		if got := visible.Line(tt.err); got != tt.want {
			t.Errorf("%q is shown as %s, want %s", tt.err, got, tt.want)
		}
	}
}

// FuzzWriter: however text is cut when it is written, it is shown as when it is
// written at once, and nothing that is hidden gets through.
func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[0m \u202e\xff\xe2\x80 漢\r\n\rx", 3)
	f.Add("\xf0\x9f\x98\x80\r", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var whole, parts strings.Builder
		show := func(b *strings.Builder, writes ...string) {
			w := visible.NewWriter(b)
			for _, s := range writes {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		show(&whole, text)
		var writes []string
		for rest, n := text, 1+max(0, cut%7); rest != ""; rest = rest[min(n, len(rest)):] {
			writes = append(writes, rest[:min(n, len(rest))])
		}
		show(&parts, writes...)
		if whole.String() != parts.String() {
			t.Errorf("%q in pieces is shown as %q, at once as %q", text, parts.String(), whole.String())
		}
		seen := strings.ReplaceAll(whole.String(), "\r\n", "\n")
		if i := strings.IndexFunc(seen, func(r rune) bool { return r != '\n' && r != '\t' && visible.Hidden(r) }); i >= 0 {
			t.Errorf("%q is shown as %q", text, seen)
		}
	})
}
