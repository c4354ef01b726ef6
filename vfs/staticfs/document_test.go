package staticfs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

func TestFromTxtar(t *testing.T) {
	s, err := staticfs.FromTxtar([]byte("A comment.\n\n-- docs/guide.md --\n# Guide\n\n-- /abs --\r\na\r\n-- empty --\n-- a b/ü😀 --\nno newline at the end"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/docs/guide.md": "# Guide\n\n", "/abs": "a\r\n", "/empty": "", "/a b/ü😀": "no newline at the end\n"}
	if diff := cmp.Diff(want, s.Contents()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, empty := range []string{"", "\n\n"} {
		if s, err := staticfs.FromTxtar([]byte(empty)); err != nil || s.Len() != 0 {
			t.Errorf("FromTxtar(%q) = %v, %v, want no files", empty, s, err)
		}
	}
}

// Some editors begin a file with U+FEFF. It is no part of the first file's line, nor
// of JSON; within a content it stays.
func TestByteOrderMark(t *testing.T) {
	fromTxtar, err := staticfs.FromTxtar([]byte("\ufeff-- a --\n\ufeffx\n-- b --\ny\n"))
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, err := staticfs.FromJSON([]byte("\ufeff{\"/a\": \"\ufeffx\\n\", \"/b\": \"y\\n\"}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*staticfs.FS{"txtar": fromTxtar, "JSON": fromJSON} {
		if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "\ufeffx\n" || s.Len() != 2 {
			t.Errorf("%s: the first of %d files is %q, %v", name, s.Len(), f.Content, err)
		}
	}
}

// A line that is only almost a file's is text, and no input stops the program.
func TestLikeAMarker(t *testing.T) {
	s, err := staticfs.FromTxtar([]byte("-- --\n-- a --\n-- --\n--  --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "-- --\n--  --\n" {
		t.Errorf("the file is %q, %v", f.Content, err)
	}
}

func TestFromTxtarRefuses(t *testing.T) {
	for _, tt := range []struct{ archive, says string }{
		{"just text\n", "txtar: no file is in it"},
		{"-- ../x --\n", `load /../x: invalid path: the segment ".." is not allowed`},
		{"-- a --\n-- /a --\n", "load /a: invalid path: the file is given twice"},
		{"-- a --\n\xff\n", "load /a: the content is not valid UTF-8"},
		{"-- / --\n", "name a file below it"},
		{"-- a\\b --\n", "a backslash is not allowed"},
	} {
		if s, err := staticfs.FromTxtar([]byte(tt.archive)); err == nil || !strings.Contains(err.Error(), tt.says) || s != nil {
			t.Errorf("FromTxtar(%q) = %v, %v, want an error that says %q", tt.archive, s, err, tt.says)
		}
	}
}

func TestFromJSON(t *testing.T) {
	s, err := staticfs.FromJSON([]byte(` {"/a": "one\r\n", "/d//b/": "\ud83d\ude00 \\ud800 \u0000", "/\ufffd": "�"} ` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/a": "one\r\n", "/d/b": "😀 \\ud800 \x00", "/\ufffd": "\ufffd"}
	if diff := cmp.Diff(want, s.Contents()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if s, err := staticfs.FromJSON([]byte("{}")); err != nil || s.Len() != 0 {
		t.Errorf("FromJSON({}) = %v, %v, want no files", s, err)
	}
}

func TestFromJSONRefuses(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{``, "JSON of files: it ends at byte 0, before the object does"},
		{`{"/a": "x"`, "before the object does"},
		{`{"/a":`, "before the object does"},
		{`[]`, "it must be an object from path to content"},
		{`null`, "it must be an object from path to content"},
		{`"x"`, "it must be an object from path to content"},
		{`nonsense`, "at byte "},
		{`{"/a": 1}`, `the content of "/a" must be a string`},
		{`{"/a": null}`, `the content of "/a" must be a string`},
		{`{"/a": {"/b": "x"}}`, `the content of "/a" must be a string`},
		{`{"/a": "x",}`, "at byte "},
		{`{"/a" "x"}`, "at byte "},
		{`{"/a": "x"} {}`, "nothing may follow the object"},
		{`{"/a": "x"} nonsense`, "nothing may follow the object"},
		{`{"/a": "x", "/a": "y"}`, "load /a: invalid path: the file is given twice"},
		{`{"/a": "x", "//a": "x"}`, "load /a: invalid path: the file is given twice"},
		{`{"a": "x"}`, "load a: invalid path: a path must start with /"},
		{"{\"/a\": \"\xff\"}", "it is not valid UTF-8"},
		{`{"/a": "\ud800"}`, `at byte 8: \ud800 is half a surrogate pair`},
		{`{"/a": "\ud800\ud800\udc00"}`, "half a surrogate pair"},
		{`{"/a": "\udc00\ud800"}`, "half a surrogate pair"},
		{`{"/a\ud800": ""}`, "half a surrogate pair"},
	} {
		if s, err := staticfs.FromJSON([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.says) || s != nil {
			t.Errorf("FromJSON(%q) = %v, %v, want an error that says %q", tt.text, s, err, tt.says)
		}
	}
}

func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{`{"/a":"x"}`, `{"/a":"\ud83d\ude00\\"}`, `{"/a":"\ud83d"}`, `[`, `{"/a":1`, `{"/a":"x"}x`, `\u`, `"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := staticfs.FromJSON(data)
		if (s == nil) == (err == nil) {
			t.Fatalf("FromJSON = %v, %v", s, err)
		}
		if err != nil && errors.Is(err, vfs.ErrNotText) {
			t.Fatalf("a content that is not UTF-8 came out of UTF-8 JSON: %v", err)
		}
	})
}
