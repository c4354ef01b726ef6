package journalfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// open opens a journal that is closed with the test.
func open(t testing.TB, name string, opts *journalfs.Options) *journalfs.Journal {
	t.Helper()
	j, err := journalfs.Open(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func wrap(t testing.TB, b vfs.Backend, j *journalfs.Journal) *journalfs.FS {
	t.Helper()
	s, err := journalfs.Wrap(t.Context(), b, j)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func history(t testing.TB, name string) *journalfs.History {
	t.Helper()
	h, err := journalfs.OpenHistory(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// contents returns every file of a store.
func contents(t testing.TB, b vfs.Backend) map[string]vfs.File {
	t.Helper()
	files := map[string]vfs.File{}
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		f.ModTime = f.ModTime.UTC()
		files[f.Path] = f
	}
	return files
}

// clock goes on by a second each time it is asked.
func clock() func() time.Time {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// conforms runs the rules on the store alone; with GOLIATHFS_FULL they run behind
// wrappers too.
func conforms(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

func TestBackend(t *testing.T) {
	t.Parallel()
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			j := open(t, filepath.Join(t.TempDir(), "journal"), &journalfs.Options{Relaxed: true})
			return wrap(t, teststore.Memory(t, seed), j)
		},
	})
}

// The files at a moment are a backend like any other.
func TestSnapshotBackend(t *testing.T) {
	t.Parallel()
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, vfstest.Config{
		ReadOnly: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			name := filepath.Join(t.TempDir(), "journal")
			wrap(t, teststore.Memory(t, seed), open(t, name, nil))
			return at(t, name, journalfs.Moment{})
		},
	})
}

func at(t testing.TB, name string, m journalfs.Moment) *journalfs.Snapshot {
	t.Helper()
	s, err := history(t, name).At(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// step changes one file at random; state is every file of the store.
func step(t testing.TB, b vfs.Backend, state map[string]vfs.File, n int) {
	t.Helper()
	path := fmt.Sprintf("/d%d/f%d", rand.IntN(3), rand.IntN(20))
	old, there := state[path]
	if there && rand.IntN(4) == 0 {
		if err := vfs.Remove(t.Context(), b, path, old.Revision); err != nil {
			t.Fatal(err)
		}
		delete(state, path)
		return
	}
	content := strings.Repeat(fmt.Sprintf("%s %d\n", path, n), rand.IntN(50))
	info, err := vfs.Write(t.Context(), b, path, content, old.Revision)
	if err != nil {
		t.Fatal(err)
	}
	info.ModTime = info.ModTime.UTC()
	state[path] = vfs.File{Info: info, Content: content}
}

// Every moment of a long journal is what the files were then, by its time and by its
// revision, while the journal is written, and after it was opened again.
func TestEveryMoment(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	now := clock()
	j := open(t, name, &journalfs.Options{Now: now, Relaxed: true})
	inside := teststore.Memory(t, map[string]string{"/d0/f0": "seed\n", "/other": ""})
	b := wrap(t, inside, j)
	state := contents(t, b)
	type moment struct {
		time  time.Time
		rev   vfs.Revision
		state map[string]vfs.File
	}
	var moments []moment
	for n := range testsize.Pick(1500, 2500, 20000) {
		before := maps.Clone(state)
		step(t, b, state, n)
		if rand.IntN(100) == 0 || n < 5 {
			var last journalfs.Entry
			for last = range history(t, name).Log(t.Context(), "/") {
				break
			}
			moments = append(moments, moment{last.Time, last.Revision, maps.Clone(state)}, moment{last.Time.Add(-time.Second), "", before})
		}
		if n%997 == 0 {
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			j = open(t, name, &journalfs.Options{Now: now, Relaxed: true})
			b = wrap(t, inside, j)
		}
	}
	moments = append(moments, moment{state: state})
	for _, m := range moments {
		if diff := cmp.Diff(m.state, contents(t, at(t, name, journalfs.Moment{Time: m.time}))); diff != "" {
			t.Fatalf("at %v (-was +shown):\n%s", m.time, diff)
		}
		if m.rev == "" {
			continue
		}
		if diff := cmp.Diff(m.state, contents(t, at(t, name, journalfs.Moment{Revision: m.rev}))); diff != "" {
			t.Fatalf("at %v (-was +shown):\n%s", m.rev, diff)
		}
	}
}

// The log is every change, the newest first, and of a directory those below it.
func TestLog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	b := wrap(t, teststore.Memory(t, map[string]string{"/seed": "s"}), open(t, name, &journalfs.Options{Now: clock()}))
	var want []string
	rev := vfs.Revision("")
	for n := range testsize.Pick(1200, 3000, 3000) {
		info, err := vfs.Write(t.Context(), b, "/a/b", strings.Repeat("x", n%9), rev)
		if err != nil {
			t.Fatal(err)
		}
		rev = info.Revision
		want = append(want, fmt.Sprintf("write /a/b %s %d", rev, n%9))
	}
	if err := vfs.Remove(t.Context(), b, "/a/b", rev); err != nil {
		t.Fatal(err)
	}
	want = append(want, "remove /a/b  0")
	slices.Reverse(want)
	lines := func(dir string) (lines []string) {
		for e, err := range history(t, name).Log(t.Context(), dir) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == journalfs.Write || e.Kind == journalfs.Removal {
				lines = append(lines, fmt.Sprintf("%v %s %s %d", e.Kind, e.Path, e.Revision, e.Size))
			}
		}
		return lines
	}
	if diff := cmp.Diff(want, lines("/a")); diff != "" {
		t.Errorf("below /a (-want +got):\n%s", diff)
	}
	if got := lines("/"); len(got) != len(want)+1 || !strings.HasPrefix(got[len(want)], "write /seed") {
		t.Errorf("below /: %d changes, the first is %s", len(got), got[len(got)-1])
	}
}

// Changes that were made while the journal was not there are seen when it is opened
// again, and the journal says that there may have been more.
func TestChangesWithoutTheJournal(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	inside := teststore.Memory(t, map[string]string{"/kept": "k", "/changed": "before", "/removed": "r"})
	j := open(t, name, nil)
	wrap(t, inside, j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.Read(t.Context(), inside, "/changed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), inside, "/changed", "after", f.Revision); err != nil {
		t.Fatal(err)
	}
	if f, err = vfs.Read(t.Context(), inside, "/removed"); err == nil {
		err = vfs.Remove(t.Context(), inside, "/removed", f.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := len(kinds(t, name))
	wrap(t, inside, open(t, name, nil))
	got := kinds(t, name)[before:]
	if diff := cmp.Diff([]string{"gap /", "write /changed", "remove /removed"}, got); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(contents(t, inside), contents(t, at(t, name, journalfs.Moment{}))); diff != "" {
		t.Error(diff)
	}
}

// kinds returns what a journal tells, the oldest first.
func kinds(t testing.TB, name string) (list []string) {
	t.Helper()
	for e, err := range history(t, name).Log(t.Context(), "/") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Kind.String()+" "+e.Path)
	}
	slices.Reverse(list)
	return list
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(strings.Repeat("this is a letter to someone\n", 9)), 0o600); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("a word"), 0o600); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(dir, "used")
	open(t, used, nil)
	for name, want := range map[string]string{
		other:                            "no journal of goliathfs",
		short:                            "no journal of goliathfs",
		dir:                              "this is none",
		used:                             "someone else",
		filepath.Join(dir, "no", "file"): "cannot be made",
	} {
		if _, err := journalfs.Open(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	if text, err := os.ReadFile(other); err != nil || !strings.HasPrefix(string(text), "this is a letter") {
		t.Errorf("a refused file was changed: %v, %.20q", err, text)
	}
	if _, err := journalfs.OpenHistory(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a journal that is not there: %v", err)
	}
}

func TestNoMoment(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	j := open(t, name, &journalfs.Options{Now: clock()})
	if _, err := history(t, name).At(t.Context(), journalfs.Moment{}); !errors.Is(err, journalfs.ErrNoMoment) {
		t.Errorf("before the first look: %v", err)
	}
	wrap(t, teststore.Memory(t, map[string]string{"/a": "a"}), j)
	for _, m := range []journalfs.Moment{
		{Revision: "never"},
		{Time: time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC)},
	} {
		if _, err := history(t, name).At(t.Context(), m); !errors.Is(err, journalfs.ErrNoMoment) {
			t.Errorf("%v: %v", m, err)
		}
	}
	// A seed has a revision too: the first moment that shows it.
	f, err := at(t, name, journalfs.Moment{}).Read(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, at(t, name, journalfs.Moment{Revision: f.Revision})); len(got) != 1 {
		t.Errorf("the moment of a seed has %v", got)
	}
}

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("here", 3600))
	for text, want := range map[string]journalfs.Moment{
		"":                              {},
		"AZ1_x-abcdef":                  {Revision: "AZ1_x-abcdef"},
		"-abcdefghijk":                  {Revision: "-abcdefghijk"},
		"2026-11-30T11:00:05Z":          {Time: time.Date(2026, 11, 30, 11, 0, 5, 0, time.UTC)},
		"2026-11-30T11:00:05.250+02:00": {Time: time.Date(2026, 11, 30, 9, 0, 5, 250e6, time.UTC)},
		"2026-11-30T11:00":              {Time: time.Date(2026, 11, 30, 11, 0, 0, 0, now.Location())},
		"2026-11-30 11:00:01":           {Time: time.Date(2026, 11, 30, 11, 0, 1, 0, now.Location())},
		"2026-11-30":                    {Time: time.Date(2026, 11, 30, 0, 0, 0, 0, now.Location())},
		"-90s":                          {Time: now.Add(-90 * time.Second)},
	} {
		got, err := journalfs.ParseMoment(text, now)
		if err != nil || got.Revision != want.Revision || !got.Time.Equal(want.Time) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday at 5", "2026-13-01T00:00", "12:00"} {
		if m, err := journalfs.ParseMoment(text, now); err == nil {
			t.Errorf("%q is %v, want an error", text, m)
		}
	}
}

// A journal that grows beyond its bounds keeps the newest states, and the first of
// them is whole.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what string
		opts journalfs.Options
	}{
		{"size", journalfs.Options{MaxBytes: 400_000}},
		{"age", journalfs.Options{MaxAge: 500 * time.Second}},
		{"both", journalfs.Options{MaxBytes: 400_000, MaxAge: 300 * time.Second}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "journal")
			tt.opts.Now, tt.opts.Relaxed = clock(), true
			j := open(t, name, &tt.opts)
			b := wrap(t, teststore.Memory(t, map[string]string{"/old": "from the beginning\n"}), j)
			state := contents(t, b)
			var past []map[string]vfs.File
			for n := range 4000 {
				step(t, b, state, n)
				past = append(past, maps.Clone(state))
				if info, err := os.Stat(name); err != nil || tt.opts.MaxBytes > 0 && info.Size() > 2*tt.opts.MaxBytes+2<<20 { // and the room for what comes
					t.Fatalf("after %d changes: %v, %d bytes", n, err, info.Size())
				}
			}
			h := history(t, name)
			var times []time.Time // of the changes, the newest first
			for e, err := range h.Log(t.Context(), "/") {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == journalfs.Base {
					break
				}
				times = append(times, e.Time)
			}
			writes := len(times)
			if writes < 100 || writes > 3900 {
				t.Fatalf("%d changes are kept", writes)
			}
			if tt.opts.MaxAge > 0 && writes > 700 {
				t.Errorf("%d seconds are kept", writes)
			}
			first, last, err := h.Bounds(t.Context())
			if err != nil || !first.Before(last) {
				t.Errorf("bounds %v to %v, %v", first, last, err)
			}
			for back := 0; back < writes; back += 97 {
				shown := contents(t, at(t, name, journalfs.Moment{Time: times[back]}))
				if diff := cmp.Diff(past[len(past)-1-back], shown); diff != "" {
					t.Fatalf("%d changes back (-was +shown):\n%s", back, diff)
				}
			}
			if diff := cmp.Diff(past[len(past)-1-writes], contents(t, at(t, name, journalfs.Moment{Time: first}))); diff != "" {
				t.Errorf("the first moment (-was +shown):\n%s", diff)
			}
			checked(t, name, 0)
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left behind", err, left)
			}
		})
	}
}

// checked reads the whole journal and fails unless it has as many damaged places.
func checked(t testing.TB, name string, damaged int) []error {
	t.Helper()
	var found []error
	_, err := history(t, name).Check(t.Context(), func(err error) { found = append(found, err) })
	if err != nil || len(found) != damaged {
		t.Errorf("check: %v, %d damaged places %v, want %d", err, len(found), found, damaged)
	}
	return found
}
