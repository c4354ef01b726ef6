package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		"", "\n", "a", "a\n", "a\n\n", "-- x --\n", "a\n-- x --", "-- x --\r\n", "\r", "a\rb\n", "a\r\n",
		"\ufeffa\n", ">a\n", `\`, "\\\n", `\u{41}` + "\r", "\x00\n", "\xff", "tab\tspace \n", "e\u0301\n",
		"\u2028\n", "-- x -- \n", "--  --\n", "a\\", "(quoted)\n", "-- --\n", "--  --\n",
	} {
		in := []archive.Entry{{"one", text}, {"two", "after\n"}}
		data := archive.Format("comment\n", in)
		_, out, err := archive.Parse(data)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Errorf("%q came back differently (-want +got):\n%s\narchive:\n%s", text, diff, data)
		}
	}
}

func TestQuotedForm(t *testing.T) {
	got := string(archive.Format("", []archive.Entry{{"a", "one\n-- x --\ncr\r\nend\\"}}))
	want := "-- a (quoted) --\n>one\n>-- x --\n>cr\\r\n>end\\\\\\\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestParseRefusesBrokenQuotes(t *testing.T) {
	for _, body := range []string{"no mark\n", ">a\\\n>b\n", ">\\q\n", ">\\u{d800}\n", ">\\u{41\n", ">\\x{100}\n", ">\\x{}\n"} {
		if _, _, err := archive.Parse([]byte("-- a (quoted) --\n" + body)); err == nil {
			t.Errorf("%q was accepted", body)
		}
	}
}

// A checkout with autocrlf changes every line; a golden still compares, and the
// CR that a text really holds is not lost with it.
func TestCheckoutWithCRLF(t *testing.T) {
	in := []archive.Entry{{"a", "one\r\ntwo\n"}, {"b", "plain\n"}}
	data := bytes.ReplaceAll(archive.Format("c\n", in), []byte("\n"), []byte("\r\n"))
	_, out, err := archive.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
}

func TestWord(t *testing.T) {
	for in, want := range map[string]string{"/a/b.md": "/a/b.md", "": `""`, "a b": `"a b"`, "é": `"\u00e9"`, `"`: `"\""`} {
		if got := archive.Word(in); got != want {
			t.Errorf("Word(%q) is %s, want %s", in, got, want)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", "a", "-- x --\n", "\r", "\\\n", "\xff\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := []archive.Entry{{"one", text}, {"two", text}}
		_, out, err := archive.Parse(archive.Format("", in))
		if err != nil || !cmp.Equal(in, out) {
			t.Fatalf("%q came back as %q, %v", text, out, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("-- a (quoted) --\n>x\\r\n")
	f.Add("-- a --\nx\r\n")
	f.Add("-- a  (quoted) --")            // a space that belongs to no name
	f.Add("-- a (quoted) (quoted) --\nb") // a name that ends like the mark
	f.Fuzz(func(t *testing.T, data string) {
		comment, entries, err := archive.Parse([]byte(data))
		if err != nil || strings.Contains(data, "\r") {
			return
		}
		_, again, err := archive.Parse(archive.Format(comment, entries))
		if err != nil || !cmp.Equal(entries, again) {
			t.Fatalf("%q reads as %q, then as %q, %v", data, entries, again, err)
		}
	})
}
