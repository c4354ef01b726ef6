package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// TestHostileRevision: a revision, which a store of others makes, forges no line.
func TestHostileRevision(t *testing.T) {
	store, err := memfs.New(nil, &memfs.Options{
		NewRevision: func(time.Time, vfs.Revision) vfs.Revision { return "r\nforged" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), store, "/a", "x", ""); err != nil {
		t.Fatal(err)
	}
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := remotefs.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		remotefs.Serve(ctx, l, store, nil)
	}()
	defer func() {
		cancel()
		<-served
	}()
	for _, args := range [][]string{{"ls", "-l", address}, {"stat", address, "/a"}} {
		out, err := goliathfs(t, args...).Output()
		if err != nil || strings.Contains(string(out), "\nforged") || !strings.Contains(string(out), "forged") {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
}
