package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// rewriteForever opens the store of a job and changes it until it is killed.
func rewriteForever(ctx context.Context, j job, out io.Writer) error {
	s, err := openStore(ctx, j.Kind, j.Dir, j.Options)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open")
	return rewrite(ctx, s, func(line string) error {
		_, err := fmt.Fprintln(out, line)
		return err
	})
}

// TestKill kills a process that changes a store, with kill -9 at random moments
// (200 times with GOLIATHFS_FULL), durable and relaxed by turns. Each time every acknowledged write is
// there, whole and at its revision, nothing else is, and the store is sound.
func TestKill(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			begun, writes := time.Now(), 0
			rounds := testsize.Pick(10, 30, 200)
			var l *ledger
			var dir string
			var opened bool // by a process that lived to tell, or by this one
			for round := range rounds {
				if round%20 == 0 { // a store that does not exist yet
					l, dir, opened = newLedger(), t.TempDir(), false
				}
				j := job{Role: "rewrite", Kind: kind, Dir: dir, Options: options{Relaxed: round%2 == 1, MustExist: opened}}
				lived, err := killOne(t.Context(), j, l)
				opened = opened || lived
				if err == nil {
					err = verifyAt(t.Context(), kind, dir, opened, l)
				}
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				opened = true
				writes += l.writes
				l.writes = 0
			}
			if writes < rounds {
				t.Errorf("only %d writes in %d rounds", writes, rounds)
			}
			t.Logf("%d rounds, %d acknowledged changes, %v", rounds, writes, time.Since(begun))
		})
	}
}

// killOne runs a job and kills it: at a random moment of its work or, one time
// in eight, of its start. It reports whether the store was open by then.
func killOne(ctx context.Context, j job, l *ledger) (opened bool, err error) {
	p, err := j.start(ctx)
	if err != nil {
		return false, err
	}
	var lines []string
	if rand.IntN(8) == 0 {
		<-time.After(time.Duration(rand.IntN(40)) * time.Millisecond)
	} else {
		for range 1 + rand.IntN(150) {
			line, err := p.line()
			if err != nil {
				return false, err
			}
			lines = append(lines, line)
		}
	}
	rest, err := p.kill()
	if err != nil {
		return false, err
	}
	lines = append(lines, rest...)
	if len(lines) == 0 {
		return false, nil
	}
	for _, line := range lines[1:] {
		if err := l.follow(line); err != nil {
			return false, err
		}
	}
	return true, nil
}

// verifyAt opens the store in dir and compares it with the ledger.
func verifyAt(ctx context.Context, kind, dir string, mustExist bool, l *ledger) error {
	s, err := openStore(ctx, kind, dir, options{MustExist: mustExist})
	if err != nil {
		return err
	}
	return errors.Join(l.verify(ctx, s), s.Close())
}

// serveForever serves the store of a job until it is killed.
func serveForever(ctx context.Context, j job, out io.Writer) error {
	s, err := openStore(ctx, j.Kind, j.Dir, j.Options)
	if err != nil {
		return err
	}
	l, err := remotefs.Listen(j.Addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "open")
	return remotefs.Serve(ctx, l, s, &remotefs.ServeOptions{Writable: true})
}

// TestKillServer kills the process that serves a store while a client changes
// it: what the client was told is written is in the store.
func TestKillServer(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, l := t.TempDir(), newLedger()
			for round := range testsize.Pick(2, 8, 40) {
				j := job{Role: "serve", Kind: kind, Dir: dir, Addr: "unix:" + filepath.Join(t.TempDir(), "s"), Options: options{Relaxed: round%2 == 1}}
				if err := killServer(t.Context(), j, l); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if err := verifyAt(t.Context(), kind, dir, true, l); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		})
	}
}

func killServer(ctx context.Context, j job, l *ledger) error {
	p, err := j.start(ctx)
	if err != nil {
		return err
	}
	if _, err := p.line(); err != nil {
		return err
	}
	c, err := remotefs.Dial(ctx, j.Addr, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	told := make(chan error, 1)
	go func() {
		err := rewrite(ctx, c, l.follow)
		if vfs.Code(err) == "store" { // the server went away
			err = plain(err)
		}
		told <- err
	}()
	<-time.After(time.Duration(rand.IntN(40)) * time.Millisecond)
	if _, err := p.kill(); err != nil {
		return err
	}
	return <-told
}
