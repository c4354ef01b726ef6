package fusebridge_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// A store is shown, read-only, until the program is interrupted or someone
// unmounts it.
func ExampleMount() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	store, err := memfs.New(map[string]string{"/notes/today.md": "Buy milk.\n"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	server, err := fusebridge.Mount(ctx, store, "/mnt/agent", nil)
	if err != nil {
		log.Fatal(err) // one sentence: what is in the way, and what to do
	}
	fmt.Println("look at", server.Dir())
	if err := server.Wait(); err != nil {
		log.Print(err)
	}
}

// A developer may edit, too. Edits that lose a race with the agent are kept in a
// folder, and the log says where.
func ExampleMount_readWrite() {
	store, err := memfs.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	server, err := fusebridge.Mount(context.Background(), store, "/mnt/agent", &fusebridge.Options{
		Name:      "agent",
		ReadWrite: true,
		Logger:    slog.Default(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Unmount()
	fmt.Println("edits refused so far:", server.Counters().Conflicts)
}
