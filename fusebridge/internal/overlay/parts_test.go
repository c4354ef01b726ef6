//go:build linux

package overlay_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
)

func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		".a.swp": true, ".a.swo": true, ".a.swx": true, ".a.swpx": true, ".a.b.swp": true,
		"4913": true, "a~": true, ".#a": true, "#a#": true, "._a": true, ".fuse_hidden0001": true,
		"a.swp": false, ".swp": false, ".a.sw": false, ".a.swapped": false, ".a.swpp": false,
		"4914": false, "04913": false, "49130": false, "#": false, "##": false, "#a": false, "a": false, ".a": false, "notes.md": false,
	} {
		if got := overlay.IsTemporary(name, false); got != want {
			t.Errorf("isTemporary(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestMaybeText cuts a text at every place: each piece must pass, and bytes that
// are no text must not.
func TestMaybeText(t *testing.T) {
	const text = "aé漢😀\x00z"
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			if !overlay.MaybeText([]byte(text[i:j])) {
				t.Errorf("a piece is refused: %q", text[i:j])
			}
		}
	}
	for _, bad := range []string{"\xff", "a\xffb", "\xc0\x80", "a\xed\xa0\x80b", "\x80\x80\x80\x80", "ab\xe6\xbcc"} {
		if overlay.MaybeText([]byte(bad)) {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestWritesInode: only a descriptor that can write that inode counts; what tells no
// inode, or makes no sense, does not.
func TestWritesInode(t *testing.T) {
	const ino = 18446744073709551557
	for info, want := range map[string]bool{
		"pos:\t0\nflags:\t0100001\nmnt_id:\t29\nino:\t18446744073709551557\n": true,
		"pos:\t0\nflags:\t02102002\nmnt_id:\t29\nino:\t18446744073709551557":  true,
		"pos:\t0\nflags:\t0100000\nmnt_id:\t29\nino:\t18446744073709551557\n": false,
		"pos:\t0\nflags:\t0100001\nmnt_id:\t29\nino:\t1844674407370955155\n":  false,
		"pos:\t0\nflags:\t0100001\nmnt_id:\t29\n":                             false,
		"flags:\nino:\n": false,
		"":               false,
	} {
		if got := overlay.WritesInode(info, ino); got != want {
			t.Errorf("%q: %v, want %v", info, got, want)
		}
	}
}
