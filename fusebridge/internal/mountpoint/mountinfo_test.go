//go:build linux

package mountpoint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge/internal/mountpoint"
)

func TestParseMountinfo(t *testing.T) {
	const text = `22 27 0:21 / /proc rw,relatime - proc proc rw
36 35 98:0 /mnt1 /mnt\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
nonsense

40 35 0:50 / /a\134b\011 ro,nosuid,nodev - fuse.goliathfs mem:x\040y ro,user_id=0
41 35 0:51 / /short
`
	mounts, err := mountpoint.Parse(strings.NewReader(text))
	var got [][3]string
	for _, m := range mounts {
		got = append(got, [3]string{m.Dir, m.FSType, m.Source})
	}
	want := [][3]string{{"/proc", "proc", "proc"}, {"/mnt 2", "ext3", "/dev/root"}, {"/a\\b\t", "fuse.goliathfs", "mem:x y"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// FuzzUnescape: whatever mountinfo holds, a name comes out, and text without
// a backslash stays.
func FuzzUnescape(f *testing.F) {
	for _, s := range []string{`a\040b`, `\`, `\0`, `\777`, `\134040`, "plain"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := mountpoint.Unescape(s)
		if len(got) > len(s) || !strings.Contains(s, `\`) && got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

// FuzzParse: whatever mountinfo holds is read without harm, and a mount of it has a
// directory and a type.
func FuzzParse(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\n")
	f.Add("40 35 0:50 / /a ro - fuse.goliathfs mem: ro,user_id=0\n")
	f.Fuzz(func(t *testing.T, text string) {
		mounts, _ := mountpoint.Parse(strings.NewReader(text))
		for _, m := range mounts {
			if m.Dir == "" || m.FSType == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}

// TestGone: a mount is gone when its line is, and when another has its numbers by now.
func TestGone(t *testing.T) {
	ours := mountpoint.Mount{ID: 40, Unique: 7, Device: "0:50", Dir: "/m"}
	other := mountpoint.Mount{ID: 41, Device: "0:51", Dir: "/m"}
	elsewhere := mountpoint.Mount{ID: 40, Device: "0:50", Dir: "/elsewhere"}
	unknown := ours
	unknown.Unique = 0
	for name, tt := range map[string]struct {
		m      mountpoint.Mount
		mounts []mountpoint.Mount
		top    uint64
		want   bool
	}{
		"no line":                       {ours, nil, 0, true},
		"another's line":                {ours, []mountpoint.Mount{other}, 8, true},
		"its line":                      {ours, []mountpoint.Mount{ours}, 7, false},
		"a stranger's with its numbers": {ours, []mountpoint.Mount{ours}, 8, true},
		"a stranger's with its numbers elsewhere": {ours, []mountpoint.Mount{elsewhere}, 8, true},
		"moved":              {ours, []mountpoint.Mount{elsewhere}, 7, false},
		"it cannot be told":  {ours, []mountpoint.Mount{ours}, 0, false},
		"never known":        {unknown, []mountpoint.Mount{ours}, 8, false},
		"covered by another": {ours, []mountpoint.Mount{ours, other}, 9, false},
	} {
		if got := mountpoint.GoneFrom(tt.m, tt.mounts, tt.top); got != tt.want {
			t.Errorf("%s: gone %v, want %v", name, got, tt.want)
		}
	}
}
