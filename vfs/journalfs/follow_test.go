package journalfs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// change writes and removes files from four goroutines, and returns the revisions.
func change(t *testing.T, b vfs.Backend, each int) map[vfs.Revision]bool {
	t.Helper()
	var mu sync.Mutex
	revisions := map[vfs.Revision]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range each {
				path := fmt.Sprintf("/f%d", rand.IntN(5))
				info, err := vfs.Stat(t.Context(), b, path)
				if err == nil && n%5 == 0 {
					vfs.Remove(t.Context(), b, path, info.Revision) // someone else may be first
					continue
				}
				if info, err = vfs.Write(t.Context(), b, path, fmt.Sprint(path, n), info.Revision); err == nil {
					mu.Lock()
					revisions[info.Revision] = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return revisions
}

// has fails unless the journal has every revision once, and its newest moment is what
// the store holds.
func has(t *testing.T, name string, b vfs.Backend, revisions map[vfs.Revision]bool) {
	t.Helper()
	found := map[vfs.Revision]int{}
	for e, err := range history(t, name).Log(t.Context(), "/") {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case journalfs.Write:
			found[e.Revision]++
		case journalfs.Missed, journalfs.Gap:
			t.Errorf("the journal lacks something: %v %s %s", e.Kind, e.Path, e.Text)
		}
	}
	for rev := range revisions {
		if found[rev] != 1 {
			t.Errorf("the journal has the revision %s %d times", rev, found[rev])
		}
	}
	if diff := cmp.Diff(contents(t, b), contents(t, at(t, name, journalfs.Moment{}))); diff != "" {
		t.Errorf("the newest moment (-store +journal):\n%s", diff)
	}
}

func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	inside := teststore.Memory(t, nil)
	b := wrap(t, inside, open(t, name, &journalfs.Options{Relaxed: true}))
	has(t, name, inside, change(t, b, 300))
}

// following runs Follow, and ends it when stop is called.
func following(t *testing.T, b vfs.Backend, j *journalfs.Journal) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	looked, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- journalfs.Follow(ctx, b, j, func() { close(looked) }) }()
	select {
	case <-looked:
	case err := <-done:
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A follower has what others write, also what was replaced before it could look.
func TestFollow(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	b := teststore.Memory(t, map[string]string{"/f0": "seed"})
	stop := following(t, b, open(t, name, nil))
	revisions := change(t, b, 300)
	stop()
	has(t, name, b, revisions)
}

// One journal takes what is written through it and what is written beside it.
func TestFollowAndWrap(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	inside := teststore.Memory(t, nil)
	j := open(t, name, &journalfs.Options{Relaxed: true})
	b := wrap(t, inside, j)
	stop := following(t, inside, j)
	revisions := change(t, b, 300)
	stop()
	has(t, name, inside, revisions)
}

// What was in the journal before it was opened again is not taken for news.
func TestFollowAndWrapAgain(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	inside := teststore.Memory(t, map[string]string{"/kept": "a", "/changed": "a", "/removed": "a"})
	revisions := map[vfs.Revision]bool{}
	for range 3 {
		j := open(t, name, &journalfs.Options{Relaxed: true})
		b := wrap(t, inside, j)
		stop := following(t, inside, j)
		for _, path := range []string{"/changed", "/removed"} {
			info, err := vfs.Stat(t.Context(), b, path)
			if err != nil {
				t.Fatal(err)
			}
			revisions[info.Revision] = true
			if path == "/removed" {
				if err := vfs.Remove(t.Context(), b, path, info.Revision); err != nil {
					t.Fatal(err)
				}
				info.Revision = ""
			}
			if info, err = vfs.Write(t.Context(), b, path, "b", info.Revision); err != nil {
				t.Fatal(err)
			}
			revisions[info.Revision] = true
		}
		stop()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	has(t, name, inside, revisions)
}

// mute is a store that tells of changes as another process's: late, and without what
// was replaced.
type mute struct {
	*memfs.FS
	fn   atomic.Pointer[func(vfs.Event)]
	lost []vfs.Event
}

func (m *mute) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	m.fn.Store(&fn)
	fn(vfs.Event{Path: dir, Overflow: true})
	<-ctx.Done()
	return ctx.Err()
}

// What a follower could not see is said.
func TestFollowSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	b := &mute{FS: teststore.Memory(t, nil)}
	stop := following(t, b, open(t, name, nil))
	var rev, first vfs.Revision
	var events []vfs.Event
	for n := range 3 {
		info, err := b.Write(t.Context(), "/a", strings.Repeat("x", n), rev)
		if err != nil {
			t.Fatal(err)
		}
		if rev = info.Revision; n == 0 {
			first = rev
		}
		events = append(events, vfs.Event{Path: "/a", Info: info})
	}
	tell := *b.fn.Load()
	tell(events[0])
	tell(events[2])
	tell(vfs.Event{Path: "/", Overflow: true}) // nothing has changed: nothing to say
	stop()
	if diff := cmp.Diff([]string{"base /", "missed /a", "write /a"}, kinds(t, name)); diff != "" && !strings.Contains(diff, "gap") {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for e := range history(t, name).Log(t.Context(), "/a") {
		if e.Kind == journalfs.Missed && e.Revision != first {
			t.Errorf("missed is %s, want %s", e.Revision, first)
		}
	}
}

// What others wrote, and was replaced through the journal before a follower heard of it,
// does not come behind what replaced it.
func TestFollowHearsLate(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	inside := &mute{FS: teststore.Memory(t, nil)}
	j := open(t, name, nil)
	b := wrap(t, inside, j)
	stop := following(t, inside, j)
	others, err := inside.Write(t.Context(), "/a", "others", "")
	if err != nil {
		t.Fatal(err)
	}
	own, err := vfs.Write(t.Context(), b, "/a", "own", others.Revision)
	if err != nil {
		t.Fatal(err)
	}
	tell := *inside.fn.Load()
	tell(vfs.Event{Path: "/a", Info: others})
	tell(vfs.Event{Path: "/a", Info: own, Old: &vfs.File{Info: others, Content: "others"}})
	stop()
	if diff := cmp.Diff([]string{"base /", "write /a", "missed /a"}, kinds(t, name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(contents(t, inside), contents(t, at(t, name, journalfs.Moment{}))); diff != "" {
		t.Errorf("the newest moment (-store +journal):\n%s", diff)
	}
}

// busy is a store that is written to while it is looked through.
type busy struct {
	*memfs.FS
	meanwhile func() // called once, before the first page
}

func (b *busy) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if meanwhile := b.meanwhile; meanwhile != nil {
		b.meanwhile = nil
		meanwhile()
	}
	return b.FS.List(ctx, dir, opts)
}

// What was told before a look found what came of it takes the journal back to nothing
// older: not with the first look, and not with one of a journal that has the files.
func TestFollowWhileLooking(t *testing.T) {
	t.Parallel()
	steps := map[string][]string{ // "" removes the file
		"written once":         {"2"},
		"written twice":        {"2", "3"},
		"removed":              {""},
		"removed and made":     {"", "2"},
		"made twice":           {"", "2", "", "3"},
		"written and removed":  {"2", ""},
		"removed, and written": {"", "2", "3"},
	}
	for what, texts := range steps {
		for _, known := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "journal")
			b := &busy{FS: teststore.Memory(t, map[string]string{"/f": "1", "/still": "x"})}
			if known {
				j := open(t, name, nil)
				wrap(t, b, j)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
			b.meanwhile = func() {
				for _, text := range texts {
					info, err := b.Stat(t.Context(), "/f")
					if text == "" {
						err = b.Remove(t.Context(), "/f", info.Revision)
					} else {
						_, err = b.Write(t.Context(), "/f", text, info.Revision)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
			following(t, b, open(t, name, nil))()
			if diff := cmp.Diff(contents(t, b), contents(t, at(t, name, journalfs.Moment{}))); diff != "" {
				t.Errorf("%s while it was looked through, known %v, the newest moment (-store +journal):\n%s", what, known, diff)
			}
		}
	}
}

func TestFollowRefuses(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal"), nil)
	b := struct{ vfs.Backend }{teststore.Memory(t, nil)} // it cannot be watched
	if err := journalfs.Follow(t.Context(), b, j, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v, want one that says that the store does not report changes", err)
	}
}

// failing is a store whose writes are made and then fail.
type failing struct {
	*memfs.FS
	err error
}

func (f *failing) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	info, err := f.FS.Write(ctx, path, content, expected)
	if err == nil && f.err != nil {
		return vfs.Info{}, f.err
	}
	return info, err
}

// What a store has done behind an error is in the journal before the next change.
func TestMadeBehindAnError(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{errors.New("the disk is gone"), context.Canceled} {
		name := filepath.Join(t.TempDir(), "journal")
		inside := &failing{teststore.Memory(t, nil), failure}
		b := wrap(t, inside, open(t, name, nil))
		if _, err := vfs.Write(t.Context(), b, "/a", "made", ""); !errors.Is(err, failure) {
			t.Fatalf("error %v, want %v", err, failure)
		}
		inside.err = nil
		if _, err := vfs.Write(t.Context(), b, "/b", "next", ""); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"base /", "write /a", "write /b"}, kinds(t, name)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", failure, diff)
		}
	}
}

// A journal that cannot be written any more lets no change through.
func TestClosedJournal(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "journal"), nil)
	inside := teststore.Memory(t, nil)
	b := wrap(t, inside, j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), b, "/a", "x", ""); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("error %v, want one that says that nothing was changed", err)
	}
	if _, err := vfs.Read(t.Context(), inside, "/a"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("the store was changed: %v", err)
	}
}
