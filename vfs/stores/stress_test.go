package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

const (
	stressWriters  = 32 // goroutines of each process
	stressCounters = 3  // files that all of them add to
)

// tally is what writers were told that they did.
type tally struct {
	Files, Removed, Added int
}

// stressTime is how long TestStress lasts.
func stressTime(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("GOLIATHFS_STRESS"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return testsize.Pick(300*time.Millisecond, 500*time.Millisecond, 3*time.Second)
}

// TestStress has two processes of 32 goroutines each write files of their own
// and add to files of all. Both open the SQLite database; the Badger store is
// open in a third process that serves it. Everything that was acknowledged is
// there, once, and no writer sees an error other than a conflict.
func TestStress(t *testing.T) {
	last := stressTime(t)
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, "sqlite", dir, options{})
		stress(t, s, job{Role: "stress", Kind: "sqlite", Dir: dir, For: last})
	})
	t.Run("badger", func(t *testing.T) {
		dir, addr := t.TempDir(), "unix:"+filepath.Join(t.TempDir(), "s")
		server, err := job{Role: "serve", Kind: "badger", Dir: dir, Addr: addr}.start(t.Context())
		if err == nil {
			_, err = server.line()
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := remotefs.Dial(t.Context(), addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stress(t, c, job{Role: "stress", Addr: addr, For: last})
		if _, err := server.kill(); err != nil {
			t.Fatal(err)
		}
		if err := check(t.Context(), open(t, "badger", dir, options{MustExist: true})); err != nil {
			t.Error(err)
		}
	})
}

// stress writes to a store here and in the process of a job, and counts.
func stress(t *testing.T, s store, other job) {
	t.Helper()
	p, err := other.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mine, err := stressWith(t.Context(), s, "here", other.For)
	if err != nil {
		t.Error(err)
	}
	line, err := p.line()
	if err != nil {
		t.Fatal(err)
	}
	var others tally
	if err := json.Unmarshal([]byte(line), &others); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if mine.Added == 0 || others.Added == 0 {
		t.Errorf("one process did nothing: %+v, %+v", mine, others)
	}
	t.Logf("in %v: %+v here, %+v there", other.For, mine, others)
	files, sum := 0, 0
	for info, err := range walk.Files(t.Context(), s, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if files++; !strings.HasPrefix(info.Path, "/counter") {
			continue
		}
		files--
		f, err := s.Read(t.Context(), info.Path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(f.Content)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if want := mine.Added + others.Added; sum != want {
		t.Errorf("the counters hold %d, want the %d that were acknowledged", sum, want)
	}
	if want := mine.Files + others.Files - mine.Removed - others.Removed; files != want {
		t.Errorf("%d files, want the %d that were acknowledged", files, want)
	}
	if err := check(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// stressApart is stress of another process, which reports its tally.
func stressApart(ctx context.Context, j job, out io.Writer) error {
	var s store
	var err error
	if j.Addr != "" {
		s, err = remotefs.Dial(ctx, j.Addr, nil)
	} else {
		s, err = openStore(ctx, j.Kind, j.Dir, j.Options)
	}
	if err != nil {
		return err
	}
	did, err := stressWith(ctx, s, "there", j.For)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(did)
}

func stressWith(ctx context.Context, s store, name string, last time.Duration) (tally, error) {
	end := time.Now().Add(last)
	var wg sync.WaitGroup
	did, errs := make([]tally, stressWriters), make([]error, stressWriters)
	for w := range stressWriters {
		wg.Go(func() {
			for n := 0; errs[w] == nil && (n == 0 || time.Now().Before(end)); n++ { // once even on a busy machine
				errs[w] = did[w].step(ctx, s, fmt.Sprintf("/%s/%d/%d", name, w, n), fmt.Sprintf("/counter%d", (w+n)%stressCounters))
			}
		})
	}
	wg.Wait()
	var all tally
	for _, d := range did {
		all.Files, all.Removed, all.Added = all.Files+d.Files, all.Removed+d.Removed, all.Added+d.Added
	}
	return all, errors.Join(errs...)
}

// step makes a file, adds one to a counter, and now and then removes a file.
func (d *tally) step(ctx context.Context, s store, path, counter string) error {
	info, err := s.Write(ctx, path, path, "")
	if err != nil {
		return err
	}
	if d.Files++; d.Files%4 == 0 {
		if err := s.Remove(ctx, path, info.Revision); err != nil {
			return err
		}
		d.Removed++
	}
	for {
		f, err := s.Read(ctx, counter)
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return err
		}
		n, _ := strconv.Atoi(f.Content) // "" when there is none yet
		if _, err = s.Write(ctx, counter, strconv.Itoa(n+1), f.Revision); err == nil {
			d.Added++
			return nil
		}
		if !errors.Is(err, vfs.ErrConflict) {
			return err
		}
	}
}
