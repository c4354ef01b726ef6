package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// body is the content that write n of a path has; it differs in length and
// everywhere from any other.
func body(path string, n int) string {
	line := fmt.Sprintf("%s %d\n", path, n)
	size := []int{0, 100, 5_000, 40_000, 300_000}[n%5]
	return line + strings.Repeat(line, size/len(line))
}

// bodyNumber undoes body, and fails on anything that is no whole body.
func bodyNumber(path, content string) (int, error) {
	first, _, _ := strings.Cut(content, "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(first, path+" "))
	if err != nil || content != body(path, n) {
		return 0, fmt.Errorf("%s holds %d bytes that were never written as one: %.60q", path, len(content), content)
	}
	return n, nil
}

// rewrite creates, replaces and removes files with four goroutines until it is
// killed. It tells each step before ("try PATH N") and after ("did PATH N REVISION");
// N is the number of the body, or -1 for a removal.
func rewrite(ctx context.Context, dir string, out io.Writer) error {
	return rewriteWith(ctx, dir, out, nil)
}

func rewriteRelaxed(ctx context.Context, dir string, out io.Writer) error {
	return rewriteWith(ctx, dir, out, &badgerfs.Options{Relaxed: true})
}

func rewriteWith(ctx context.Context, dir string, out io.Writer, opts *badgerfs.Options) error {
	s, err := badgerfs.Open(ctx, dir, opts)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open")
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for w := range errs {
		wg.Go(func() {
			for n := rand.IntN(1 << 20); errs[w] == nil; n++ {
				errs[w] = step(ctx, s, out, fmt.Sprintf("/w%d/f%d", w, rand.IntN(6)), n)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func step(ctx context.Context, s *badgerfs.FS, out io.Writer, path string, n int) error {
	info, err := s.Stat(ctx, path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		return err
	}
	if info.Revision != "" && n%4 == 0 {
		fmt.Fprintf(out, "try %s -1\n", path)
		if err := s.Remove(ctx, path, info.Revision); err != nil {
			return err
		}
		fmt.Fprintf(out, "did %s -1 -\n", path)
		return nil
	}
	fmt.Fprintf(out, "try %s %d\n", path, n)
	info, err = s.Write(ctx, path, body(path, n), info.Revision)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "did %s %d %s\n", path, n, info.Revision)
	return nil
}

// state is what is known of one path: the last step that was acknowledged, and
// one that was begun after it.
type state struct {
	n        int // -1 when removed
	revision vfs.Revision
	trying   bool
	next     int
}

func (st *state) follow(line string) {
	fields := strings.Fields(line)
	n, _ := strconv.Atoi(fields[2])
	if fields[0] == "try" {
		st.trying, st.next = true, n
		return
	}
	st.n, st.revision, st.trying = n, vfs.Revision(fields[3]), false
}

// TestKill kills a writing process at random moments, and each time finds every
// acknowledged write, whole, at its revision.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"rewrite", "relaxed"} {
		t.Run(role, func(t *testing.T) {
			dir := t.TempDir()
			known := map[string]*state{}
			for range testsize.Pick(2, 4, 30) {
				killWriter(t, role, dir, known)
				verifyKilled(t, dir, known)
			}
		})
	}
}

func killWriter(t *testing.T, role, dir string, known map[string]*state) {
	t.Helper()
	p := start(t, role, dir)
	p.line() // open
	var lines []string
	for range 1 + rand.IntN(600) {
		lines = append(lines, p.line())
	}
	for _, line := range append(lines, p.kill()...) {
		if !strings.HasPrefix(line, "try ") && !strings.HasPrefix(line, "did ") {
			t.Fatalf("the child says %q", line)
		}
		path := strings.Fields(line)[1]
		if known[path] == nil {
			known[path] = &state{n: -1}
		}
		known[path].follow(line)
	}
}

func verifyKilled(t *testing.T, dir string, known map[string]*state) {
	t.Helper()
	s := open(t, dir, &badgerfs.Options{MustExist: true})
	for path, st := range known {
		f, err := s.Read(t.Context(), path)
		n := -1
		switch {
		case err == nil:
			if n, err = bodyNumber(path, f.Content); err != nil {
				t.Error(err)
				continue
			}
		case !errors.Is(err, vfs.ErrNotFound):
			t.Error(err)
			continue
		}
		switch {
		case st.trying && n == st.next: // it was committed and not yet acknowledged
			st.n, st.revision = n, f.Revision
		case n != st.n:
			t.Errorf("%s: step %d is there, want %d (or %d: %v)", path, n, st.n, st.next, st.trying)
		case n >= 0 && f.Revision != st.revision:
			t.Errorf("%s: revision %s, want %s", path, f.Revision, st.revision)
		}
		st.trying = false
	}
	sound(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// sound fails when Check finds a problem.
func sound(t *testing.T, s *badgerfs.FS) badgerfs.Checked {
	t.Helper()
	read, err := s.Check(t.Context(), func(p badgerfs.Problem) { t.Errorf("Check: %+v", p) })
	if err != nil {
		t.Error(err)
	}
	return read
}
