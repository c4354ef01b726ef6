package revision_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

const chars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func wellFormed(r vfs.Revision) bool {
	return len(r) == revision.Len && strings.Trim(string(r), chars) == ""
}

func TestNew(t *testing.T) {
	for _, now := range []time.Time{
		time.UnixMilli(0), time.UnixMilli(1), time.Date(2026, 11, 29, 12, 0, 0, 123_456_789, time.UTC), time.UnixMilli(1<<42 - 1),
	} {
		r := revision.New(now, "")
		if !wellFormed(r) {
			t.Errorf("New(%v) = %q, which is not 12 characters of URL-safe base64", now, r)
		}
		if got, want := revision.Time(r), now.Truncate(time.Millisecond); !got.Equal(want) {
			t.Errorf("Time of New(%v) = %v, want %v", now, got, want)
		}
	}
	for ms := range int64(64 * 64) { // every character, in two places
		if got := revision.Time(revision.New(time.UnixMilli(ms), "")); got.UnixMilli() != ms {
			t.Fatalf("Time of New at %d ms is at %d ms", ms, got.UnixMilli())
		}
	}
	if r := revision.New(time.UnixMilli(-5), ""); !revision.Time(r).Equal(time.UnixMilli(0)) {
		t.Errorf("New before 1970 = %q, which has the time %v", r, revision.Time(r))
	}
}

func TestNewDiffers(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	seen := map[vfs.Revision]bool{}
	old := vfs.Revision("")
	for range 1000 { // of one millisecond: a repeat has a chance of one in two thousand
		r := revision.New(now, old)
		if r == old {
			t.Fatalf("New replaces %q by itself", old)
		}
		seen[r] = true
		old = r
	}
	if len(seen) < 999 {
		t.Errorf("1,000 revisions of one millisecond hold %d different ones", len(seen))
	}
}

func TestOfSeed(t *testing.T) {
	base := revision.OfSeed("/a", "content")
	if !wellFormed(base) {
		t.Errorf("OfSeed = %q, which is not 12 characters of URL-safe base64", base)
	}
	if again := revision.OfSeed("/a", "content"); again != base {
		t.Errorf("OfSeed gave %q, then %q", base, again)
	}
	for _, other := range []vfs.Revision{
		revision.OfSeed("/b", "content"), revision.OfSeed("/a", "Content"), revision.OfSeed("/ac", "ontent"), revision.OfSeed("/a", ""),
	} {
		if other == base {
			t.Errorf("another path or content has the revision %q too", base)
		}
	}
}

func TestTimeOfOthers(t *testing.T) {
	for _, r := range []vfs.Revision{"", "x", "lq3x5y0a-1f-9f8a7b", "AAAAAA AAAAA", "AAAAAA!AAAAA", "AAAAAAAAAAA", "AAAAAAAAAAAAA"} {
		if got := revision.Time(r); !got.IsZero() {
			t.Errorf("Time(%q) = %v, want none", r, got)
		}
	}
}
