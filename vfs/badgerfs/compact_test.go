package badgerfs_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// churn replaces a file of 1 MiB n times.
func churn(t *testing.T, s *badgerfs.FS, path string, n int) {
	t.Helper()
	info, err := vfs.Stat(t.Context(), s, path)
	if err != nil {
		info = vfs.Info{}
	}
	for i := range n {
		content := strings.Repeat(fmt.Sprintf("%016d", i), 1<<16)
		if info, err = s.Write(t.Context(), path, content, info.Revision); err != nil {
			t.Fatal(err)
		}
	}
}

// bounded fails when the store takes more of the disk than Compact promises for
// this many bytes of files.
func bounded(t *testing.T, s *badgerfs.FS, live int64) {
	t.Helper()
	use, err := s.DiskUse(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if limit := live*5/4 + 32<<20; use > limit {
		t.Errorf("the store takes %d bytes for %d of files, want at most %d", use, live, limit)
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, &badgerfs.Options{Relaxed: true})
	for range 2 { // there is nothing to free
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mib := testsize.Pick(200, 200, 500)
	churn(t, s, "/a", mib)
	if before, err := s.DiskUse(t.Context()); err != nil || before < int64(mib)*8/10<<20 {
		t.Fatalf("DiskUse after %d MiB of writes = %d, %v", mib, before, err)
	}
	for range 2 {
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		bounded(t, s, 1<<20)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, nil)
	sound(t, s)
	churn(t, s, "/a", 40)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	bounded(t, s, 1<<20)
}

// Files live between stale ones, so that logs have to be rewritten, while others
// read and write.
func TestCompactInUse(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), &badgerfs.Options{Relaxed: true})
	const live = 24
	for n := range live {
		write(t, s, fmt.Sprintf("/live/%d", n), strings.Repeat(fmt.Sprintf("live %09d!", n), 1<<16))
		churn(t, s, "/stale", 4)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for r := range 3 {
		wg.Go(func() {
			for n := r; ctx.Err() == nil; n = (n + 1) % live {
				f, err := s.Read(t.Context(), fmt.Sprintf("/live/%d", n))
				if want := strings.Repeat(fmt.Sprintf("live %09d!", n), 1<<16); err != nil || f.Content != want {
					t.Errorf("Read during Compact: %d bytes, %v", len(f.Content), err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		rev := vfs.Revision("")
		for n := 0; ctx.Err() == nil; n++ {
			info, err := s.Write(t.Context(), "/busy", body("/busy", n), rev)
			if err != nil {
				t.Errorf("Write during Compact: %v", err)
				return
			}
			rev = info.Revision
		}
	})
	for range 3 {
		if err := s.Compact(t.Context()); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
	if err := s.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	bounded(t, s, live*14<<16)
	sound(t, s)
}

func TestCompactCanceled(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Compact(ctx); err == nil {
		t.Error("Compact under an ended context succeeded")
	}
}
