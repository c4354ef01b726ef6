package gramindex_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/gramindex"
)

// kept keeps parts as a disk would: read through ReadAt, and there after the index
// was closed.
type kept struct {
	published []*keptPart
	changed   map[string]bool
	discarded int
	began     int
}

type keptPart struct{ data []byte }

func (p *keptPart) Write(b []byte) (int, error) {
	p.data = append(p.data, b...)
	return len(b), nil
}
func (p *keptPart) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(p.data).ReadAt(b, at)
}
func (p *keptPart) Size() (int64, error) { return int64(len(p.data)), nil }
func (p *keptPart) Close() error         { return nil }

func (k *kept) Open(context.Context) (parts []gramindex.Part, changed []string, err error) {
	for _, p := range k.published {
		parts = append(parts, p)
	}
	for path := range k.changed {
		changed = append(changed, path)
	}
	return parts, changed, nil
}

func (k *kept) Begin(context.Context) error {
	k.began++
	k.published = nil
	return nil
}

func (k *kept) Create() (gramindex.Part, error) { return &keptPart{}, nil }

func (k *kept) Publish(_ context.Context, parts []gramindex.Part) error {
	k.published = nil
	for _, p := range parts {
		k.published = append(k.published, p.(*keptPart))
	}
	return nil
}

func (k *kept) Settle(_ context.Context, noted func(string) bool) error {
	for path := range k.changed {
		if !noted(path) {
			delete(k.changed, path)
		}
	}
	return nil
}

func (k *kept) Discard(gramindex.Part) error {
	k.discarded++
	return nil
}

// reopened returns a store with the files of s whose index is what k keeps.
func reopened(s *store, k *kept) *store {
	again := newStore(smallSizes, &gramindex.Options{Parts: k})
	again.files = s.files
	return again
}

func filled(t *testing.T, k *kept, files int) *store {
	t.Helper()
	s := newStore(smallSizes, &gramindex.Options{Parts: k})
	for i := range files {
		s.write(fmt.Sprintf("/%s/%d", names[i%len(names)], i), randomText(20))
	}
	if err := s.x.Build(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// What is kept answers after a restart, with what changed since.
func TestKept(t *testing.T) {
	k := &kept{changed: map[string]bool{}}
	s := filled(t, k, 100)
	if err := s.x.Close(); err != nil {
		t.Fatal(err)
	}
	s.write("/late", "a late needle")
	k.changed["/late"] = true
	s = reopened(s, k)
	defer s.x.Close()
	got, ok, err := s.search(t.Context(), "/", "", "late needle", 10)
	if !ok || err != nil || !slices.Contains(got, "/late") || k.began != 1 {
		t.Errorf("%q, %v, %v; made %d times", got, ok, err, k.began)
	}
}

// A part of which any bit is another is either of no consequence for an answer, or
// the index is made anew; it never misses a file.
func TestFlippedBits(t *testing.T) {
	k := &kept{changed: map[string]bool{}}
	s := filled(t, k, 60)
	lost := 0
	for range 3000 {
		data := k.published[0].data
		i := rand.IntN(8 * len(data))
		data[i/8] ^= 1 << (i % 8)
		s = reopened(s, &kept{published: k.published})
		needle := strings.ReplaceAll(randomText(1+rand.IntN(3)), "\n", "b")
		got, ok, err := s.search(t.Context(), "/", "", needle, 9)
		if err != nil {
			t.Fatalf("bit %d: %v", i, err)
		}
		if ok && len(missing(s.matches("/", "", needle), got)) > 0 {
			t.Fatalf("bit %d: a search of %q misses a file", i, needle)
		}
		if !ok {
			lost++
			if st := s.x.Status().State; st == "ready" {
				t.Errorf("bit %d: no answer, and the index is %s", i, st)
			}
		}
		data[i/8] ^= 1 << (i % 8)
		s.x.Close()
	}
	if lost < 300 {
		t.Errorf("only %d of 3000 flips were noticed", lost)
	}
}

// The same for parts that are cut, empty, of another version or of another kind.
func TestOtherParts(t *testing.T) {
	k := &kept{changed: map[string]bool{}}
	s := filled(t, k, 60)
	whole := k.published[0].data
	other := bytes.ReplaceAll(whole, []byte("GrmIndx1"), []byte("GrmIndx2"))
	for name, data := range map[string][]byte{
		"empty": nil, "short": whole[:20], "cut": whole[:len(whole)-1], "half": whole[:len(whole)/2],
		"longer": append(slices.Clone(whole), 0), "another version": other, "text": bytes.Repeat([]byte("text"), 100),
	} {
		s = reopened(s, &kept{published: []*keptPart{{data}}})
		if got, ok, err := s.search(t.Context(), "/", "", "a", 9); ok || err != nil {
			t.Errorf("%s: %q, %v, %v", name, got, ok, err)
		}
		s.x.Quiet()
		got, ok, err := s.search(t.Context(), "/", "", "a", 9)
		if lost := missing(s.matches("/", "", "a"), got); !ok || err != nil || len(lost) > 0 {
			t.Errorf("%s, made anew: %v, %v, misses %q", name, ok, err, lost)
		}
		s.x.Close()
	}
}

func FuzzSegment(f *testing.F) {
	k := &kept{changed: map[string]bool{}}
	s := newStore(smallSizes, &gramindex.Options{Parts: k})
	for i := range 20 {
		s.write(fmt.Sprint("/", i), fmt.Sprint("text ", i))
	}
	if err := s.x.Build(f.Context(), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(k.published[0].data)
	f.Add([]byte("GrmIndx1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = gramindex.OpenBytes(data) // an error or none, and no panic
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x02\x06\x00\x05\x01\x03ABCDEFGH"))
	f.Add([]byte("\x00\x02/a\x0012345678\x01\x02bc\x0112345678"))
	f.Add([]byte("\x01\x08\x20\x02\x00\x02/a\x02/b\x01\x10\x01\x05\x10"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = gramindex.Decode(data) // an error or none, and no panic
	})
}

// A group that ends within a posting is damaged: read as it is, files would be missed.
func TestCutGroup(t *testing.T) {
	const group = "\x01\x02\x00\x32" // one gram, which 50 of 100 files hold, in a bit each
	whole := group + strings.Repeat("\x55", 13)
	if err := gramindex.DecodeGroup([]byte(whole)); err != nil {
		t.Errorf("the whole group: %v", err)
	}
	for n := range len(whole) {
		if err := gramindex.DecodeGroup([]byte(whole[:n])); err == nil && n > 0 {
			t.Errorf("the first %d of %d bytes pass", n, len(whole))
		}
	}
}

// interrupted is a source of which something else happens before it is still.
type interrupted struct {
	*store
	before func()
}

func (s *interrupted) Still(ctx context.Context, fn func() error) error {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	return s.store.Still(ctx, fn)
}

// A search that is about to take over what is kept does not disturb a build that is
// done meanwhile.
func TestBuildBeforeOpen(t *testing.T) {
	s := newStore(smallSizes, nil)
	s.files["/a"] = gramindex.Document{Path: "/a", Content: "text", Revision: "1"}
	src := &interrupted{store: s}
	s.x = gramindex.NewSized(src, &gramindex.Options{Parts: &kept{changed: map[string]bool{}}}, smallSizes)
	defer s.x.Close()
	src.before = func() {
		if err := s.x.Build(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	if err := s.x.Open(t.Context()); err != nil {
		t.Error(err)
	}
	if st := s.x.Status(); st.State != "ready" || st.Files != 1 {
		t.Errorf("after a build: %+v", st)
	}
}
