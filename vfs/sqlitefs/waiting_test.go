package sqlitefs_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

func TestFactory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	calls := 0
	s, err := sqlitefs.NewLazy(func(context.Context) (*sql.DB, error) {
		calls++
		if calls == 1 {
			return nil, errors.New("not yet")
		}
		return pool(t, file), nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if calls != 0 {
		t.Error("the factory was called before it was needed")
	}
	if _, err := s.Write(t.Context(), "/a", "", ""); err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("the first operation: %v", err)
	}
	for range 2 {
		if _, err := s.List(t.Context(), "/", vfs.ListOptions{}); err != nil {
			t.Errorf("a later operation: %v", err)
		}
	}
	if calls != 2 {
		t.Errorf("the factory was called %d times", calls)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Read(t.Context(), "/a"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// TestSlowFactory: who waits for a connection that takes longer than BusyTimeout
// gets it.
func TestSlowFactory(t *testing.T) {
	file := device(t)
	synctest.Test(t, func(t *testing.T) {
		ready := make(chan struct{})
		s, err := sqlitefs.NewLazy(func(context.Context) (*sql.DB, error) {
			<-ready
			return pool(t, file), nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		for range cap(done) {
			go func() {
				_, err := s.List(t.Context(), "/", vfs.ListOptions{})
				done <- err
			}()
		}
		time.Sleep(time.Hour) // of a clock that jumps
		synctest.Wait()
		if len(done) > 0 {
			t.Errorf("an operation did not wait: %v", <-done)
		}
		close(ready)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestBusy waits while another program writes, and then says so; a context ends
// the wait as what it is.
func TestBusy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, &sqlitefs.Options{BusyTimeout: 30 * time.Millisecond})
	tx, err := pool(t, file).BeginTx(t.Context(), nil) // immediate
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(t.Context(), "/a", "", "")
	if err == nil || !strings.Contains(err.Error(), "the database was locked by other writers for 30ms, try again") || vfs.Code(err) != "store" {
		t.Errorf("got %v", err)
	}
	if _, err := s.Read(t.Context(), "/a"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("a read beside the writer: %v", err)
	}
	patient := open(t, file, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := patient.Write(ctx, "/a", "", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := patient.Write(t.Context(), "/a", "", "")
		written <- err
	}()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Errorf("after the other program: %v", err)
	}
}

// TestBusyWaitsOnce waits for BusyTimeout in all, on connections that wait by
// themselves as on others.
func TestBusyWaitsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	open(t, file, nil).Close()
	db := pool(t, file)
	tx, err := db.BeginTx(t.Context(), nil) // immediate
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const timeout = 10 * time.Second
	synctest.Test(t, func(t *testing.T) { // a clock that jumps as soon as all wait
		s := open(t, file, &sqlitefs.Options{BusyTimeout: timeout})
		start := time.Now()
		_, err := s.Write(t.Context(), "/a", "", "")
		if waited := time.Since(start); err == nil || waited < timeout/2 || waited > timeout+timeout/2 {
			t.Errorf("waited %v: %v", waited, err)
		}
	})
}
