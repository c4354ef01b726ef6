package visible_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/visible"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain é 漢\n\tx":           "plain é 漢\n\tx",
		"\x1b[2J\x07":              `\u{001B}[2J\u{0007}`,
		"\x1b]8;;http://x\x1b\\":   `\u{001B}]8;;http://x\u{001B}\`,
		"a\rb":                     `a\u{000D}b`,
		"\u0085\u009b31m":          `\u{0085}\u{009B}31m`,
		"\u202egnp.exe\u2066":      `\u{202E}gnp.exe\u{2066}`,
		"\ufeff\u200b\u2028\u00a0": `\u{FEFF}\u{200B}\u{2028}\u{00A0}`,
		"\xff":                     `\xff`,
		"\ufffd":                   "\ufffd",
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.txtar": "a/b.txtar", "a b": "a b", "a\n::error::b": `"a\n::error::b"`, "\u202e": `"\u202e"`, "\xff": `"\xff"`,
	} {
		if got := visible.Name(name); got != want {
			t.Errorf("%q is named %s, want %s", name, got, want)
		}
	}
}

func TestInert(t *testing.T) {
	for _, text := range []string{"a ##[error]b", "##vso[task.setvariable]x", "##teamcity[x]", "###[x"} {
		got := visible.Inert(text)
		for _, command := range []string{"##[", "##vso[", "##teamcity["} {
			if strings.Contains(got, command) {
				t.Errorf("%q is shown as %q", text, got)
			}
		}
	}
	if got := visible.Inert("## heading\n# [x]"); got != "## heading\n# [x]" {
		t.Errorf("a heading is shown as %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[0m##[x\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := visible.Inert(text)
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && visible.Hidden(r) }); i >= 0 {
			t.Fatalf("%q is shown as %q", text, got)
		}
		if again := visible.Inert(got); again != got {
			t.Fatalf("%q changes when it is shown again: %q", got, again)
		}
	})
}
