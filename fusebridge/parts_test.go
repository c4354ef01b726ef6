//go:build linux

package fusebridge_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge"
)

func TestIsScratch(t *testing.T) {
	for name, want := range map[string]bool{
		".a.swp": true, ".a.swo": true, ".a.swx": true, ".a.swpx": true, ".a.b.swp": true,
		"4913": true, "a~": true, ".#a": true, "#a#": true, "._a": true, ".fuse_hidden0001": true,
		"a.swp": false, ".swp": false, ".a.sw": false, ".a.swapped": false, ".a.swpp": false,
		"4914": false, "04913": false, "49130": false, "#": false, "##": false, "#a": false, "a": false, ".a": false, "notes.md": false,
	} {
		if got := fusebridge.IsScratch(name); got != want {
			t.Errorf("isScratch(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestMaybeText cuts a text at every place: each piece must pass, and bytes that
// are no text must not.
func TestMaybeText(t *testing.T) {
	const text = "aé漢😀\x00z"
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			if !fusebridge.MaybeText([]byte(text[i:j])) {
				t.Errorf("a piece is refused: %q", text[i:j])
			}
		}
	}
	for _, bad := range []string{"\xff", "a\xffb", "\xc0\x80", "a\xed\xa0\x80b", "\x80\x80\x80\x80", "ab\xe6\xbcc"} {
		if fusebridge.MaybeText([]byte(bad)) {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestShorten(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{
		strings.Repeat("a", 256), strings.Repeat("a", 257), strings.Repeat("漢", 90) + ".txt", strings.Repeat("😀", 128) + ".md",
		strings.Repeat("a", 300) + "." + strings.Repeat("b", 40), "." + strings.Repeat("a", 300),
	} {
		short := fusebridge.Shorten(name, func(string) bool { return false })
		next := fusebridge.Shorten(name, func(s string) bool { return s == short })
		for _, s := range []string{short, next} {
			if len(s) > 255 || !utf8.ValidString(s) || seen[s] {
				t.Errorf("%q becomes %q", name, s)
			}
			seen[s] = true
		}
	}
	if got := fusebridge.Shorten(strings.Repeat("a", 300)+".md", func(string) bool { return false }); !strings.HasSuffix(got, ".md") || got[255-12] != '~' {
		t.Errorf("the extension is lost: %q", got)
	}
}

func TestParseMountinfo(t *testing.T) {
	const text = `22 27 0:21 / /proc rw,relatime - proc proc rw
36 35 98:0 /mnt1 /mnt\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
nonsense

40 35 0:50 / /a\134b\011 ro,nosuid,nodev - fuse.goliathfs mem:x\040y ro,user_id=0
41 35 0:51 / /short
`
	got, err := fusebridge.ParseMountinfo(text)
	want := [][3]string{{"/proc", "proc", "proc"}, {"/mnt 2", "ext3", "/dev/root"}, {"/a\\b\t", "fuse.goliathfs", "mem:x y"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// FuzzUnescapeMount: whatever mountinfo holds, a name comes out, and text without
// a backslash stays.
func FuzzUnescapeMount(f *testing.F) {
	for _, s := range []string{`a\040b`, `\`, `\0`, `\777`, `\134040`, "plain"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := fusebridge.UnescapeMount(s)
		if len(got) > len(s) || !strings.Contains(s, `\`) && got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

func TestInodeOf(t *testing.T) {
	seen := map[uint64]string{}
	for i := range 100_000 {
		key := fmt.Sprintf("/f%d", i)
		for _, rev := range []string{"", "r1", "r2"} {
			ino := fusebridge.InodeOf(key, rev)
			if ino <= 1 || seen[ino] != "" || ino != fusebridge.InodeOf(key, rev) {
				t.Fatalf("%s %s gets %d, like %q", key, rev, ino, seen[ino])
			}
			seen[ino] = key + " " + rev
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
		if got := fusebridge.WritesInode(info, ino); got != want {
			t.Errorf("%q: %v, want %v", info, got, want)
		}
	}
}
