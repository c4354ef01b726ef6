package journalfs_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// What is added to a journal that is not at its place any more no one would find: it is
// refused, and what has come in its place is left alone.
func TestGone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, name string) error{
		"removed": func(_ *testing.T, name string) error { return os.Remove(name) },
		"moved":   func(_ *testing.T, name string) error { return os.Rename(name, name+".1") },
		"replaced": func(_ *testing.T, name string) error {
			return errors.Join(os.Remove(name), os.WriteFile(name, nil, 0o600))
		},
		"begun again": func(t *testing.T, name string) error {
			if err := os.Remove(name); err != nil {
				return err
			}
			wrap(t, teststore.Memory(t, map[string]string{"/other": "x"}), open(t, name, nil))
			return nil
		},
	}
	for how, remove := range tests {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "journal")
			inside := teststore.Memory(t, nil)
			j := open(t, name, &journalfs.Options{MaxBytes: 1}) // which folds at each write
			b := wrap(t, inside, j)
			if err := remove(t, name); err != nil {
				t.Fatal(err)
			}
			want, _ := os.ReadFile(name)
			_, err := vfs.Write(t.Context(), b, "/a", "x", "")
			if !errors.Is(err, journalfs.ErrGone) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("error %v, want %v and that nothing was changed", err, journalfs.ErrGone)
			}
			if _, err := vfs.Stat(t.Context(), inside, "/a"); !errors.Is(err, vfs.ErrNotFound) {
				t.Errorf("the store was changed: %v", err)
			}
			if got, _ := os.ReadFile(name); string(got) != string(want) {
				t.Error("what is in its place was changed")
			}
		})
	}
}

// A journal that was removed after the last change is told of when it is closed.
func TestGoneAtTheEnd(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	j, err := journalfs.Open(name, nil)
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); !errors.Is(err, journalfs.ErrGone) {
		t.Errorf("error %v, want %v", err, journalfs.ErrGone)
	}
}

// Folding leaves a link to the journal where it is, and replaces the file.
func TestFoldsBehindALink(t *testing.T) {
	t.Parallel()
	file, link := filepath.Join(t.TempDir(), "journal"), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no links here: ", err)
	}
	b := wrap(t, teststore.Memory(t, nil), open(t, link, &journalfs.Options{MaxBytes: 1}))
	write(t, b, "/a", "x")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v now, %v", info.Mode(), err)
	}
	if _, err := at(t, file, journalfs.Moment{}).Read(t.Context(), "/a"); err != nil {
		t.Error(err)
	}
}

// write makes a file.
func write(t testing.TB, b vfs.Backend, path, content string) {
	t.Helper()
	if _, err := vfs.Write(t.Context(), b, path, content, ""); err != nil {
		t.Fatal(err)
	}
}

// The longest age there is folds nothing.
func TestLongestAge(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	b := wrap(t, teststore.Memory(t, nil), open(t, name, &journalfs.Options{MaxAge: time.Duration(math.MaxInt64), Now: clock()}))
	write(t, b, "/a", "x")
	if first, _, err := history(t, name).Bounds(t.Context()); err != nil || first.Before(clock()()) {
		t.Errorf("the journal begins at %v, %v, before there was one", first, err)
	}
}

// ending is a context that ends after it was asked so often.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Who waits for a file that has nothing but room can end that.
func TestEndlessRoom(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(name, written(t, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 1<<42); err != nil {
		t.Skip("no such files here: ", err)
	}
	h := history(t, name)
	ctx := &ending{Context: t.Context()}
	ctx.left.Store(1000)
	for _, err := range h.Log(ctx, "/") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("log: error %v, want %v", err, context.Canceled)
		}
	}
	ctx.left.Store(1000)
	if _, err := h.Check(ctx, func(err error) { t.Error(err) }); !errors.Is(err, context.Canceled) {
		t.Errorf("check: error %v, want %v", err, context.Canceled)
	}
}
