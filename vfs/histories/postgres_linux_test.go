package histories_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/vfs"
)

// smallDisk mounts a file system of its own for a server.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a small disk for the server")
	}
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := unix.Mount("goliathfs-test", dir, "tmpfs", 0, "size="+size+",mode=755"); err != nil {
		t.Skipf("no small disk can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the room of a disk with one file, and returns what gives it back.
func fill(dir string) (free func() error, err error) {
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	for chunk := make([]byte, 1<<20); len(chunk) >= 4096; {
		if _, err = f.Write(chunk); errors.Is(err, unix.ENOSPC) {
			chunk, err = chunk[:len(chunk)/2], nil
		}
		if err != nil && !errors.Is(err, io.ErrShortWrite) {
			break
		}
	}
	return func() error { return os.Remove(name) }, errors.Join(err, f.Close())
}

// TestFullDisk plays histories over a server whose disk is full for moments; it may end
// by that, and is then started again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "200m")
	below := filepath.Join(dir, "c")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	c := ownPostgres(t, &pgcluster.Options{Dir: below, Settings: []string{"min_wal_size=32MB", "max_wal_size=32MB", "wal_recycle=off", "checkpoint_timeout=30s"}})
	play(t, 1, load{clients: 3, steps: 60, paths: 6, hasty: 10, watchers: 5, pace: 3 * time.Millisecond}, func(t *testing.T) world {
		all := programs(t, freshNamespace(t, c.URL()), 2)
		other := programs(t, freshNamespace(t, c.URL()), 1)[0]
		return world{client: each(all), disturb: nowAndThen(3, 60*time.Millisecond, func() {
			free, err := fill(dir)
			if err == nil {
				full := refusal(other)
				err = errors.Join(free(), revive(c))
				if !errors.Is(full, syscall.ENOSPC) && !errors.Is(full, vfs.ErrUnavailable) {
					t.Errorf("what does not fit was refused with: %v", full)
				}
			}
			if err != nil {
				t.Error(err)
			}
		})}
	})
}

// refusal writes files until one does not fit any more.
func refusal(b vfs.Backend) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for n := range 200 {
		if _, err := vfs.Write(ctx, b, fmt.Sprintf("/%d-%d", time.Now().UnixNano(), n), strings.Repeat("x", 1<<20), ""); err != nil {
			return err
		}
	}
	return errors.New("200 MiB fit on a full disk")
}

// revive starts a server again that its full disk has ended.
func revive(c *pgcluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) {
			return errors.Join(c.Stop(), c.Run(ctx))
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
