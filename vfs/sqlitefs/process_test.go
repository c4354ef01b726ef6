package sqlitefs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// The test binary runs itself as a second program when this is set to a database
// file.
const childEnv = "GOLIATHFS_SQLITE_CHILD"

func TestMain(m *testing.M) {
	file := os.Getenv(childEnv)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := child(file); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// child shares a database as the parent does.
func child(file string) error {
	ctx := context.Background()
	s, err := sqlitefs.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	return errors.Join(share(ctx, s, "child"), s.Close())
}

// start runs the test binary as a second program.
func start(t *testing.T, file string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewReader(out)
}

const (
	sharers   = 16 // goroutines of each program
	ownWrites = 10 // files that each creates
	turns     = 5  // times that each adds to the shared file
)

// share has many goroutines write files of their own, and each add lines to one
// file that all add to.
func share(ctx context.Context, s *sqlitefs.FS, name string) error {
	var wg sync.WaitGroup
	errs := make(chan error, sharers)
	for i := range sharers {
		wg.Go(func() {
			who := fmt.Sprintf("%s-%d", name, i)
			for n := range ownWrites {
				if _, err := s.Write(ctx, fmt.Sprintf("/%s/%d", who, n), who, ""); err != nil {
					errs <- err
					return
				}
			}
			for range turns {
				if err := add(ctx, s, who+"\n"); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// add appends a line, trying again when someone else was faster.
func add(ctx context.Context, s *sqlitefs.FS, line string) error {
	for {
		f, err := s.Read(ctx, "/shared")
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return err
		}
		_, err = s.Write(ctx, "/shared", f.Content+line, f.Revision)
		if !errors.Is(err, vfs.ErrConflict) {
			return err
		}
	}
}

// TestTwoPrograms has two programs of many goroutines write at once, with and
// without a write-ahead log: every write succeeds and none is lost.
func TestTwoPrograms(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			pool(t, file, `PRAGMA journal_mode = `+mode, `CREATE TABLE other(x)`).Close()
			s := open(t, file, nil)
			cmd, out := start(t, file)
			if err := share(t.Context(), s, "parent"); err != nil {
				t.Error(err)
			}
			said, err := io.ReadAll(out)
			if err := errors.Join(err, cmd.Wait()); err != nil {
				t.Errorf("the other program: %v: %s", err, said)
			}
			f, err := s.Read(t.Context(), "/shared")
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(f.Content, "\n"); n != 2*sharers*turns {
				t.Errorf("%d lines in the shared file, want %d", n, 2*sharers*turns)
			}
			if n := len(paths(t, s, "/", 256)); n != 2*sharers*ownWrites+1 {
				t.Errorf("%d files, want %d", n, 2*sharers*ownWrites+1)
			}
		})
	}
}

// TestBesideTheSQLiteCommand has the sqlite3 command write, in transactions and
// without, while many goroutines do: no one is told of a lock, everything is
// there, and the writes did alternate.
func TestBesideTheSQLiteCommand(t *testing.T) {
	command, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3 command here")
	}
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, nil)
	n := testsize.Pick(120, 120, 300)
	cmd := exec.CommandContext(t.Context(), command, "-bail", file)
	cmd.Stdin = strings.NewReader(commandScript(n))
	done := make(chan error, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		done <- err
	}()
	written := writeUntil(t, s, done)
	if got := len(paths(t, s, "/command", 256)); got != n {
		t.Errorf("%d files of the command, want %d", got, n)
	}
	if got := len(paths(t, s, "/store", 256)); got != written {
		t.Errorf("%d files of the store, want %d", got, written)
	}
	turns := column(t, pool(t, file), `SELECT count(*) FROM (SELECT substr(path, 1, 3) AS who,
		lag(substr(path, 1, 3)) OVER (ORDER BY rowid) AS before FROM goliath_files_v1) WHERE who <> before`)
	if turns[0] == "0" || turns[0] == "1" {
		t.Errorf("the command and the store took %s turns, so they did not write at once", turns[0])
	}
}

// commandScript inserts n files, half of them in transactions of three.
func commandScript(n int) string {
	var script strings.Builder
	script.WriteString(".timeout 60000\n")
	for i := range n {
		if i%6 == 0 {
			script.WriteString("BEGIN IMMEDIATE;\n")
		}
		path := fmt.Sprintf("/command/%d", i)
		fmt.Fprintf(&script, "INSERT INTO goliath_files_v1 VALUES('default','%s','%s','by the command','c%d');\n", path, hexKey(path), i)
		if i%6 == 2 {
			script.WriteString("COMMIT;\n")
		}
	}
	return script.String()
}

// writeUntil has eight goroutines write files until done tells that the other
// program ended, and returns how many they wrote.
func writeUntil(t *testing.T, s *sqlitefs.FS, done <-chan error) int {
	t.Helper()
	ended := make(chan struct{})
	var written atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				if _, err := s.Write(t.Context(), fmt.Sprintf("/store/%d/%d", w, i), "by the store", ""); err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(ended)
	wg.Wait()
	return int(written.Load())
}

// TestLocksSurviveAnotherOpen writes into an open transaction's way after this
// process opened and closed the same file by other means, which takes POSIX
// locks away from SQLite drivers that use them.
func TestLocksSurviveAnotherOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	if err := open(t, file, nil).Close(); err != nil {
		t.Fatal(err)
	}
	db := pool(t, file)
	tx, err := db.BeginTx(t.Context(), nil) // immediate
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if _, err := os.ReadFile(file + suffix); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, file, &sqlitefs.Options{BusyTimeout: 50 * time.Millisecond})
	_, err = s.Write(t.Context(), "/a", "", "")
	if err == nil || !strings.Contains(err.Error(), "locked by other writers for 50ms") {
		t.Errorf("a write during another program's transaction: %v", err)
	}
	if command, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(command, file, "DELETE FROM goliath_files_v1").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "locked") {
			t.Errorf("the sqlite3 command during the transaction: %v: %s", err, out)
		}
	}
}
