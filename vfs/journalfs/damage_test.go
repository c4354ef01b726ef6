package journalfs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// written returns the bytes of a closed journal of some revisions, with checkpoints.
func written(t testing.TB, revisions int) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "journal")
	j := open(t, name, &journalfs.Options{Relaxed: true, Now: clock()})
	b := wrap(t, teststore.Memory(t, map[string]string{"/seed": "seed\n"}), j)
	state := contents(t, b)
	for n := range revisions {
		step(t, b, state, n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A bit that flips anywhere is found, with its place, and never shown as text.
func TestFlippedBit(t *testing.T) {
	t.Parallel()
	text := written(t, 1500)
	name := filepath.Join(t.TempDir(), "journal")
	whole := filepath.Join(t.TempDir(), "whole")
	if err := os.WriteFile(whole, text, 0o600); err != nil {
		t.Fatal(err)
	}
	was := contents(t, at(t, whole, journalfs.Moment{}))
	ends := 0 // flips in the last byte of a record, which says nothing
	for range testsize.Pick(50, 150, 20000) {
		place := rand.IntN(len(text))
		text[place] ^= 1 << rand.IntN(8)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		copy(text[place:], readByte(t, whole, place))
		h, err := journalfs.OpenHistory(name)
		if err != nil {
			continue
		}
		var found []error
		if _, err := h.Check(t.Context(), func(err error) { found = append(found, err) }); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(found) == 0:
			ends++
			if b := text[place]; b != '\n' {
				t.Errorf("a bit of byte %d was flipped, %q, and no check finds it", place, b)
			}
		case !errors.Is(found[0], journalfs.ErrDamaged) || !strings.Contains(found[0].Error(), " at byte "):
			t.Errorf("a bit of byte %d: %v", place, found[0])
		}
		if s, err := h.At(t.Context(), journalfs.Moment{}); err == nil {
			for path, f := range was {
				if got, err := s.Read(t.Context(), path); err == nil && got.Content != f.Content {
					t.Fatalf("a bit of byte %d: %s shows other text", place, path)
				}
			}
		}
		h.Close()
	}
	t.Logf("%d flips were in the ends of records", ends)
}

func readByte(t testing.TB, name string, place int) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, int64(place)); err != nil {
		t.Fatal(err)
	}
	return b
}

// A journal that ends anywhere, as a kill or a power failure leaves it, opens with
// what stands before, and goes on.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	text := written(t, 1200)
	name := filepath.Join(t.TempDir(), "journal")
	for range testsize.Pick(20, 60, 2000) {
		cut := rand.IntN(len(text) + 1)
		left := text[:cut:cut]
		if rand.IntN(2) == 0 && cut > 512 {
			// A sector of the room for what comes is written wholly or not at all.
			cut -= cut % 512
			left = append(text[:cut:cut], make([]byte, rand.IntN(10_000))...)
		}
		if err := os.WriteFile(name, left, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journalfs.Open(name, &journalfs.Options{Relaxed: true})
		if err != nil {
			t.Fatalf("cut at %d of %d bytes, %d left: %v", cut, len(text), len(left), err)
		}
		wrap(t, teststore.Memory(t, map[string]string{"/after": "the cut\n"}), j)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, at(t, name, journalfs.Moment{})); len(got) != 1 || got["/after"].Content != "the cut\n" {
			t.Fatalf("cut at %d: the newest moment has %d files", cut, len(got))
		}
		checked(t, name, 0)
	}
}

// What an agent writes cannot pass for a part of the journal.
func TestContentIsNoRecord(t *testing.T) {
	t.Parallel()
	text := written(t, 1200)
	name := filepath.Join(t.TempDir(), "journal")
	b := wrap(t, teststore.Memory(t, nil), open(t, name, nil))
	whole := strings.ToValidUTF8(string(text), "")
	for n := range 8 {
		if _, err := vfs.Write(t.Context(), b, fmt.Sprintf("/f%d", n), whole[n:], ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(contents(t, at(t, name, journalfs.Moment{}))); got != 8 {
		t.Errorf("%d files, want 8", got)
	}
}

// A writer does not go on in a damaged journal, and says what to do.
func TestWriterRefusesDamage(t *testing.T) {
	t.Parallel()
	text := written(t, 50)
	text[64] ^= 4 // the first record, before any checkpoint
	name := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(name, text[:3000], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journalfs.Open(name, nil)
	if !errors.Is(err, journalfs.ErrDamaged) || !strings.Contains(err.Error(), "at byte 64") || !strings.Contains(err.Error(), "begin a new one") {
		t.Errorf("error %v, want one with the place and what to do", err)
	}
	if got, err := os.ReadFile(name); err != nil || len(got) != 3000 {
		t.Errorf("a refused journal was changed: %v, %d bytes", err, len(got))
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte("goliathfs journal\n"), -1, byte(0))
	text := written(f, 1100)
	f.Add(text, -1, byte(0))
	f.Add(text, 100, byte(1))
	f.Add(text[:len(text)/2], 70, byte(255))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, place int, with byte) {
		if place >= 0 && place < len(text) {
			text[place] ^= with
		}
		name := filepath.Join(dir, "journal")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := journalfs.OpenHistory(name)
		if err == nil {
			defer h.Close()
			h.Check(t.Context(), func(error) {})
			entries := 0
			for e, err := range h.Log(t.Context(), "/") {
				if err == nil && e.Kind.String() == "" {
					t.Error("an entry has no kind")
				}
				entries++
			}
			if s, err := h.At(t.Context(), journalfs.Moment{}); err == nil {
				if _, err := s.List(t.Context(), "/", vfs.ListOptions{}); err != nil {
					t.Error(err)
				}
			}
		}
		if j, err := journalfs.Open(name, nil); err == nil {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
