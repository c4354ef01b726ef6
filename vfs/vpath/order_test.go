package vpath_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// byUnits is the order by its definition.
func byUnits(a, b string) int {
	return slices.CompareFunc(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)), cmp.Compare[uint16])
}

// trying are strings at the places where the order by unit and by byte differ.
var trying = []string{
	"", "/", "/a", "/a-b/y", "/a.txt", "/a/x", "/a0", "z", "é", "e\u0301", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufb33",
	"\uff5e", "\ufffd", "\uffff", "\U00010000", "\U0001F600", "\U0003FFFF", "\U00040000", "\U000FFFFF", "\U00100000", "\U0010FFFF",
}

func TestCompare(t *testing.T) {
	var all []string
	for _, a := range trying {
		for _, b := range trying {
			all = append(all, a+b)
		}
	}
	for _, a := range all {
		for _, b := range all {
			got, want := vpath.Compare(a, b), byUnits(a, b)
			if cmp.Compare(got, 0) != want {
				t.Fatalf("Compare(%q, %q) = %d, want the sign of %d", a, b, got, want)
			}
			if key := bytes.Compare(vpath.AppendKey(nil, a), vpath.AppendKey(nil, b)); key != want {
				t.Fatalf("the keys of %q and %q compare as %d, want %d", a, b, key, want)
			}
		}
	}
}

func TestKeysGoBack(t *testing.T) {
	for _, s := range trying {
		key := vpath.AppendKey([]byte("prefix:"), s)
		if !bytes.HasPrefix(key, []byte("prefix:")) || len(key) != len("prefix:")+len(s) {
			t.Errorf("AppendKey of %q is % x", s, key)
		}
		if back := vpath.ParseKey(key[len("prefix:"):]); back != s {
			t.Errorf("ParseKey of the key of %q = %q", s, back)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, s := range append(trying, "a\xffb", "\xed\xa0\x80") {
		want := len(utf16.Encode([]rune(s)))
		if got := vpath.Units(s); got != want {
			t.Errorf("Units(%q) = %d, want %d", s, got, want)
		}
	}
}

// Past sorts after all that can lie below and before every sibling.
func TestPast(t *testing.T) {
	for _, dir := range []string{"/d", "/d/e", "/\uffff", "/\U0010FFFF"} {
		past := vpath.Past(dir)
		room := (vpath.MaxUnits - vpath.Units(dir) - 1)
		for _, below := range []string{"", "/a", "/\U0010FFFF", "/" + strings.Repeat("\U0010FFFF", room/2), "/" + strings.Repeat("\uffff", room)} {
			if vpath.Compare(dir+below, past) >= 0 {
				t.Errorf("%.20q is not before the bound past %q", dir+below, dir)
			}
		}
		for _, beside := range []string{"0", "0/x", "a", "\u0080", "\U0010FFFF", "\uffff/x"} {
			if vpath.Compare(dir+beside, past) <= 0 {
				t.Errorf("%q is not after the bound past %q", dir+beside, dir)
			}
		}
		for _, before := range []string{"-", ".", "!", " /x"} {
			if vpath.Compare(dir+before, dir+"/") >= 0 {
				t.Errorf("%q is not before what lies below %q", dir+before, dir)
			}
		}
	}
	if past := vpath.Past("/"); vpath.Compare("/\U0010FFFF/\uffff", past) >= 0 {
		t.Error("a path is after the bound past /")
	}
}

func FuzzCompare(f *testing.F) {
	for i, a := range trying {
		f.Add(a, trying[len(trying)-1-i])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if back := vpath.ParseKey(vpath.AppendKey(nil, a)); back != a {
			t.Fatalf("ParseKey of the key of %q = %q", a, back)
		}
		got := cmp.Compare(vpath.Compare(a, b), 0)
		if key := bytes.Compare(vpath.AppendKey(nil, a), vpath.AppendKey(nil, b)); key != got {
			t.Fatalf("Compare(%q, %q) = %d, but the keys compare as %d", a, b, got, key)
		}
		if (got == 0) != (a == b) || cmp.Compare(vpath.Compare(b, a), 0) != -got {
			t.Fatalf("Compare(%q, %q) = %d is not an order", a, b, got)
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && got != byUnits(a, b) {
			t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, byUnits(a, b))
		}
		if utf8.ValidString(a) && vpath.Units(a) != len(utf16.Encode([]rune(a))) {
			t.Fatalf("Units(%q) = %d", a, vpath.Units(a))
		}
	})
}
