package stores_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// text is the content that step n gives a path, different for each n and from
// 20 bytes to 100 kB long, so that every store keeps it in each of its ways.
func text(path string, n int) string {
	line := fmt.Sprintf("%s %d\n", path, n)
	return strings.Repeat(line, 1+[]int{0, 2_000, 20_000, 100_000}[n%4]/len(line))
}

// stepOf undoes text and refuses what is not one whole text.
func stepOf(path, content string) (int, error) {
	first, _, _ := strings.Cut(content, "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(first, path+" "))
	if err != nil || content != text(path, n) {
		return 0, fmt.Errorf("%s: %d bytes were never written as one: %.60q", path, len(content), content)
	}
	return n, nil
}

// rewrite has four goroutines create, replace and remove files, and tells each
// step before and after, until a step fails.
func rewrite(ctx context.Context, s store, tell func(line string) error) error {
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for w := range errs {
		wg.Go(func() {
			for errs[w] == nil {
				errs[w] = rewriteOne(ctx, s, fmt.Sprintf("/w%d/f%d", w, rand.IntN(5)), 1+rand.IntN(1<<20), tell)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// rewriteOne takes step n on a path: it removes the file, or writes it.
func rewriteOne(ctx context.Context, s store, path string, n int, tell func(string) error) error {
	old, err := s.Stat(ctx, path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		return err
	}
	if old.Revision != "" && rand.IntN(4) == 0 {
		if err := tell(fmt.Sprintf("begin %s 0", path)); err != nil {
			return err
		}
		if err := s.Remove(ctx, path, old.Revision); err != nil {
			return err
		}
		return tell(fmt.Sprintf("done %s 0 -", path))
	}
	if err := tell(fmt.Sprintf("begin %s %d", path, n)); err != nil {
		return err
	}
	info, err := s.Write(ctx, path, text(path, n), old.Revision)
	if err != nil {
		return err
	}
	return tell(fmt.Sprintf("done %s %d %s", path, n, info.Revision))
}

// entry is what is known of one path.
type entry struct {
	step     int // the last that was acknowledged, 0 when the file is gone
	revision vfs.Revision
	begun    bool
	next     int // the step that was begun after it
}

// ledger follows what rewrite tells. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	entries map[string]*entry
	used    map[string]bool // revisions
	writes  int             // acknowledged
}

func newLedger() *ledger { return &ledger{entries: map[string]*entry{}, used: map[string]bool{}} }

// follow notes one line of rewrite.
func (l *ledger) follow(line string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return fmt.Errorf("%q is no step", line)
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return err
	}
	e := l.entries[fields[1]]
	if e == nil {
		e = &entry{}
		l.entries[fields[1]] = e
	}
	if fields[0] == "begin" {
		e.begun, e.next = true, n
		return nil
	}
	rev := fields[3]
	if n > 0 && l.used[rev] {
		return fmt.Errorf("%s: the revision %s returned", fields[1], rev)
	}
	l.used[rev] = true
	l.writes++
	e.step, e.revision, e.begun = n, vfs.Revision(rev), false
	return nil
}

// verify compares a store with the ledger: each acknowledged step is there, a
// step that was only begun is there or not, and nothing else is.
func (l *ledger) verify(ctx context.Context, s store) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	files := 0
	for path, e := range l.entries {
		there, err := e.verify(ctx, s, path)
		errs = append(errs, err)
		if there {
			files++
		}
	}
	listed := 0
	for _, err := range walk.Files(ctx, s, "/") {
		if listed++; err != nil {
			errs = append(errs, err)
		}
	}
	if listed != files {
		errs = append(errs, fmt.Errorf("%d files are listed and %d can be read", listed, files))
	}
	return errors.Join(append(errs, check(ctx, s))...)
}

func (e *entry) verify(ctx context.Context, s store, path string) (there bool, err error) {
	f, err := s.Read(ctx, path)
	n := 0
	if err == nil {
		n, err = stepOf(path, f.Content)
	}
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		return false, err
	}
	switch {
	case e.begun && n == e.next: // committed, and not acknowledged any more
		e.step, e.revision = n, f.Revision
	case n != e.step:
		return false, fmt.Errorf("%s: step %d is there, want %d (begun %v: %d)", path, n, e.step, e.begun, e.next)
	case n > 0 && f.Revision != e.revision:
		return false, fmt.Errorf("%s: revision %s, want %s", path, f.Revision, e.revision)
	}
	e.begun = false
	return n > 0, nil
}
