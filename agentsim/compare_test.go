package agentsim_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// compare replays a file's content under two texts and returns what differs.
func compare(t *testing.T, want, got string) *agentsim.Difference {
	t.Helper()
	golden := func(text string) []byte {
		quoted := strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r", "\t", "\\t", "\"", "\\\"").Replace(text)
		return []byte(replay(t, scenario("files: {/f: {text: \""+quoted+"\"}}\ncalls: [{tool: readFile, input: {path: /f}}]")))
	}
	d, err := agentsim.Compare(golden(want), golden(got))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What cannot be seen is made visible where it makes the difference.
func TestInvisibleDifferences(t *testing.T) {
	for name, tt := range map[string]struct{ want, got, minus, plus string }{
		"word":           {"one\ntwo\n", "one\n2\n", "-two", "+2"},
		"CR":             {"a\n", "a\r\n", "-a", `+a\r`},
		"BOM":            {"a\n", "\ufeffa\n", "-a", `+\u{FEFF}a`},
		"trailing":       {"a\n", "a \n", "-a", "+a·"},
		"tab":            {"a\n", "a\t\n", "-a", `+a\t`},
		"final newline":  {"a\n", "a", "-a", "+a⏎ (no final newline)"},
		"NFD":            {"\u00e9\n", "e\u0301\n", `-\u{00E9}`, `+e\u{0301}`},
		"no-break":       {"a b\n", "a\u00a0b\n", "-a b", `+a\u{00A0}b`},
		"line separator": {"ab\n", "a\u2028b\n", "-ab", `+a\u{2028}b`},
	} {
		d := compare(t, tt.want, tt.got)
		if d == nil || !strings.Contains(d.Text, "\n"+tt.minus+"\n") || !strings.Contains(d.Text+"\n", "\n"+tt.plus+"\n") {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		if d.Step != "1 readFile" {
			t.Errorf("%s: it differs at %q", name, d.Step)
		}
		if noted := strings.Contains(d.Text, "normalization"); noted != (name == "NFD") {
			t.Errorf("%s: a note on normalization: %t", name, noted)
		}
	}
	for _, tt := range []struct{ want, got, minus, plus string }{
		{"a\r\n", `a\r` + "\n", `-"a\r\n"`, `+"a\\r\n"`},
		{"a \n", "a·\n", `-"a \n"`, `+"a\u00b7\n"`},
	} {
		d := compare(t, tt.want, tt.got)
		if d == nil || !strings.Contains(d.Text, tt.minus) || !strings.Contains(d.Text, tt.plus) {
			t.Errorf("what looks like a mark: %+v", d)
		}
	}
	if d := compare(t, "a\n", "a\n"); d != nil {
		t.Errorf("equal texts differ: %+v", d)
	}
}

// Each line is shown as plainly as it can be: one that differs in what cannot be
// seen does not change how another one reads.
func TestDifferencesLineByLine(t *testing.T) {
	for name, tt := range map[string]struct {
		want, got  string
		has, lacks []string
	}{
		"a word and an accent": {
			"wörd one\n\u00e9\n", "wörd two\ne\u0301\n",
			[]string{"-wörd one", "+wörd two", `-\u{00E9}`, `+e\u{0301}`, "some lines differ only in Unicode normalization"}, []string{`w\u{`},
		},
		"a word and a mark": {
			"漢 one\na\r\n", "漢 two\n" + `a\r` + "\n",
			[]string{"-漢 one", "+漢 two", `-"a\r\n"`, `+"a\\r\n"`}, []string{`"漢`, `\u6f22`},
		},
		"three alike": {
			"a \n" + `"a \n"` + "\n", "a·\n" + `"a \n"` + "\n",
			[]string{`-"a \n"`, `+"a\u00b7\n"`, ` "\"a \\n\"\n"`}, nil,
		},
		"nothing alike": {"é\n", "è\n", []string{"-é", "+è"}, []string{"normalization", `\u`}},
	} {
		d := compare(t, tt.want, tt.got)
		if d == nil {
			t.Fatalf("%s: nothing differs", name)
		}
		for _, has := range tt.has {
			if !strings.Contains(d.Text, has) {
				t.Errorf("%s: %q is not in\n%s", name, has, d.Text)
			}
		}
		for _, lacks := range tt.lacks {
			if strings.Contains(d.Text, lacks) {
				t.Errorf("%s: %q is in\n%s", name, lacks, d.Text)
			}
		}
	}
}

func TestCompareEntries(t *testing.T) {
	const one, two, three = "-- 1 glob --\na\n", "-- 2 grep --\nb\n", "-- 3 glob --\nc\n"
	for name, tt := range map[string]struct {
		golden, got, step, before, text string
		later                           int
	}{
		"equal":          {one + two, one + two, "", "", "", 0},
		"comment":        {"old\n" + one, "new\n" + one, "", "", "", 0},
		"second differs": {one + two + three, one + "-- 2 grep --\nx\n" + "-- 3 glob --\ny\n", "2 grep", "1 glob", "-b", 1},
		"one more":       {one, one + two, "2 grep", "1 glob", "the golden ends before it", 0},
		"one less":       {one + two, one, "2 grep", "1 glob", "the replay ended before it", 0},
		"one page more":  {one + "-- 1 glob page 1 --\nx\n", one + "-- 1 glob page 1 --\nx\n-- 1 glob page 2 --\ny\n" + two, "1 glob", "", "in \"1 glob page 2\":", 1},
		"one page less":  {one + "-- 1 glob page 1 --\nx\n-- 1 glob page 2 --\ny\n" + two, one + "-- 1 glob page 1 --\nx\n" + two, "1 glob", "", "in \"1 glob page 2\":", 0},
		"another":        {one + two, one + three, "3 glob", "1 glob", `the golden has "2 grep" here`, 0},
	} {
		d, err := agentsim.Compare([]byte(tt.golden), []byte(tt.got))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case d == nil:
			if tt.step != "" {
				t.Errorf("%s: nothing differs", name)
			}
		case d.Step != tt.step || strings.Join(d.Before, ",") != tt.before || !strings.Contains(d.Text, tt.text) || d.Later != tt.later:
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, err := agentsim.Compare([]byte("-- a (quoted) --\nno mark\n"), nil); err == nil || !strings.Contains(err.Error(), "with an update") {
		t.Errorf("a damaged golden gave %v", err)
	}
}
