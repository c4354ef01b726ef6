package journalfs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// writeIn names the directory in which this test binary writes until it is killed.
const writeIn = "GOLIATHFS_JOURNAL_WRITE_IN"

func TestMain(m *testing.M) {
	dir := os.Getenv(writeIn)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := writeForever(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// writeForever changes files of a store with a journal behind it from four goroutines,
// and tells each revision that was acknowledged. The bounds are small, so that it is
// killed while it folds too.
func writeForever(ctx context.Context, dir string) error {
	inside, err := badgerfs.Open(ctx, filepath.Join(dir, "store"), &badgerfs.Options{Relaxed: true})
	if err != nil {
		return err
	}
	opts := &journalfs.Options{Relaxed: rand.IntN(2) == 0, MaxBytes: 16 << 20}
	j, err := journalfs.Open(filepath.Join(dir, "journal"), opts)
	if err != nil {
		return err
	}
	s, err := journalfs.Wrap(ctx, inside, j)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 4 {
		go func() {
			for n := 0; ; n++ {
				path := fmt.Sprintf("/w%d/f%d", w, rand.IntN(4))
				info, err := s.Stat(ctx, path)
				if err != nil && !errors.Is(err, vfs.ErrNotFound) {
					failed <- err
				}
				if info.Revision != "" && n%8 == 0 {
					if err := s.Remove(ctx, path, info.Revision); err != nil {
						failed <- err
					}
					continue
				}
				content := killedContent(path, n)
				if info, err = s.Write(ctx, path, content, info.Revision); err != nil {
					failed <- err
				}
				fmt.Printf("%s %s %d\n", path, info.Revision, n)
			}
		}()
	}
	return <-failed
}

func killedContent(path string, n int) string {
	line := fmt.Sprintf("%s %d\n", path, n)
	return strings.Repeat(line, []int{1, 10, 400, 3000}[n%4])
}

// Whenever a writing process is killed, the journal has every revision that was
// acknowledged, whole, unless it was folded, and can be written again.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "journal")
	told := map[string]string{} // revision to the line that told it
	var revisions int
	for round := range testsize.Pick(3, 10, 200) {
		for _, line := range killed(t, dir) {
			told[strings.Fields(line)[1]] = line
			revisions++
		}
		h := history(t, name)
		found := map[string]bool{}
		for e, err := range h.Log(t.Context(), "/") {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if e.Kind == journalfs.Write {
				found[string(e.Revision)] = true
			}
		}
		first, _, err := h.Bounds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		folded := 0
		for rev, line := range told {
			switch {
			case found[rev]:
			case !revision.Time(vfs.Revision(rev)).After(first):
				folded++
			default:
				t.Fatalf("round %d: %s was acknowledged and is missing", round, line)
			}
		}
		if folded > 0 && folded == len(told) {
			t.Fatal("everything was folded")
		}
		for rev := range told {
			if !found[rev] {
				delete(told, rev)
			}
		}
		probe(t, h, told)
		checked(t, name, 0)
		h.Close()
	}
	t.Logf("%d revisions were acknowledged", revisions)
}

// probe reads some of the revisions that were told.
func probe(t *testing.T, h *journalfs.History, told map[string]string) {
	t.Helper()
	n := 0
	for rev, line := range told {
		if n++; n > 20 {
			return
		}
		fields := strings.Fields(line)
		var number int
		fmt.Sscan(fields[2], &number)
		s, err := h.At(t.Context(), journalfs.Moment{Revision: vfs.Revision(rev)})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Read(t.Context(), fields[0])
		if errors.Is(err, vfs.ErrNotFound) || err == nil && f.Revision != vfs.Revision(rev) {
			continue // it is of the first moment, which shows what came later
		}
		if err != nil || f.Content != killedContent(fields[0], number) {
			t.Fatalf("%s: %v, %d bytes that were not written so", line, err, len(f.Content))
		}
	}
}

// killed starts the writer, kills it after some lines, and returns all lines.
func killed(t *testing.T, dir string) (lines []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writeIn+"="+dir)
	var problems strings.Builder
	cmd.Stderr = &problems
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	for range 1 + rand.IntN(400) {
		line, err := out.ReadString('\n')
		if err != nil {
			cmd.Wait()
			t.Fatalf("the writer ended: %v, %s", err, &problems)
		}
		lines = append(lines, line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // fails, for it was killed
	if problems.Len() > 0 {
		t.Fatalf("the writer failed: %s", &problems)
	}
	for line := range strings.Lines(string(rest)) {
		if strings.HasSuffix(line, "\n") {
			lines = append(lines, line)
		}
	}
	return lines
}
