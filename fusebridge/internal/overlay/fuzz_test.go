//go:build linux

package overlay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
)

// FuzzTwoSides lets programs and an agent work on a few files, as the bytes say: two of
// each say what is done to what. In the end, when all is closed and no temporary file
// is left, the mount shows exactly what the store has; no text is in the store that
// nobody wrote; and what a program was refused, or the agent wrote last, is in the
// store or in the conflict folder, unless a program that was told so replaced it.
func FuzzTwoSides(f *testing.F) {
	for _, seed := range []string{"", "\x00\x00\x10\x01\x20\x02", "abcdefghijklmnopqrstuvwxyz", "\x30\x01\x31\x12\x32\x23\x33\x34\x40\x45", "rename and rename and write again"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 400 {
			return
		}
		s := newSides(t)
		for i := 0; i+1 < len(program); i += 2 {
			s.step(i, program[i], program[i+1])
		}
		s.end()
	})
}

var fuzzNames = []string{"/a", "/b", "/c.md", "/d~", "/.e.swp", "/s/f", "/s/g~", "/h___jb_tmp___"}

// sides are a program, another one, and the agent, on one store.
type sides struct {
	t    *testing.T
	b    vfs.Backend
	k    *kernel
	open []file
	all  map[string]bool // texts that someone wrote, by line
}

func newSides(t *testing.T) *sides {
	mem := newMem(t, map[string]string{"/a": "seed a\n", "/s/f": "seed f\n", "/s/stays": ""})
	return &sides{t: t, b: mem, k: newKernel(t, mem, overlay.Options{}), all: map[string]bool{"seed a": true, "seed f": true}}
}

func (s *sides) step(n int, what, on byte) {
	x, y := fuzzNames[on%8], fuzzNames[on/8%8]
	k := s.k
	if on >= 128 {
		k = s.k.as(os.Getppid())
	}
	line := fmt.Sprintf("line %d", n)
	s.all[line] = true
	switch what % 12 {
	case 0, 1:
		k.save(x, line+"\n", rewrite)
	case 2:
		k.save(x, line+"\n", appendTo)
	case 3, 4:
		k.rename(x, y)
	case 5:
		k.unlink(x)
	case 6:
		k.text(x)
	case 7:
		if f, status := k.open(x, []uint32{rewrite, appendTo, makeNew}[n/2%3]); status == fuse.OK {
			s.open = append(s.open, f)
		}
	case 8:
		if len(s.open) > 0 {
			s.open[n/2%len(s.open)].write(line + "\n")
		}
	case 9:
		if len(s.open) > 0 {
			i := n / 2 % len(s.open)
			s.open[i].close()
			s.open = append(s.open[:i], s.open[i+1:]...)
		}
	case 10:
		if !overlay.IsTemporary(x[strings.LastIndexByte(x, '/')+1:], false) {
			agent(s.t, s.b, x, line+"\n")
		}
	case 11:
		if info, err := vfs.Stat(s.t.Context(), s.b, x); err == nil {
			vfs.Remove(s.t.Context(), s.b, x, info.Revision)
		}
	}
}

func (s *sides) end() {
	for _, f := range s.open {
		f.close()
	}
	for _, name := range fuzzNames {
		if overlay.IsTemporary(name[strings.LastIndexByte(name, '/')+1:], false) {
			if _, status := s.k.lookup(name); status == fuse.OK {
				if status := s.k.unlink(name); status != fuse.OK {
					s.t.Errorf("removing %s: %v", name, status)
				}
			}
		}
	}
	has := stored(s.t, s.b)
	for _, name := range fuzzNames {
		want, there := has[name]
		if !there {
			want = syscall.ENOENT.Error()
		}
		if got := s.k.text(name); got != want {
			s.t.Errorf("%s shows %q, the store has %q", name, got, want)
		}
		if there && overlay.IsTemporary(name[strings.LastIndexByte(name, '/')+1:], false) {
			s.t.Errorf("the store has the temporary file %s", name)
		}
	}
	for path, text := range has {
		for line := range strings.Lines(text) {
			if !s.all[strings.TrimSuffix(line, "\n")] {
				s.t.Errorf("%s has a line that no one wrote: %q", path, line)
			}
		}
	}
}

// TestTwoSides does the same with programs of chance.
func TestTwoSides(t *testing.T) {
	for seed := range testsize.Pick(100, 100, 3_000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			s := newSides(t)
			for n := range 150 {
				s.step(2*n, byte(r.Uint32()), byte(r.Uint32()))
			}
			s.end()
		})
	}
}
