package remotefs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// An agent lets its developer look into its files while it runs.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	addr := "unix:" + filepath.Join(dir, "agent.sock")

	// In the agent.
	files, err := memfs.New(map[string]string{"/notes/today.md": "Water the basil.\n"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l, err := remotefs.Listen(addr)
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- remotefs.Serve(ctx, l, files, nil) }()

	// In another program.
	agent, err := remotefs.Dial(ctx, addr, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	f, err := vfs.Read(ctx, agent, "/notes/today.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(f.Content)
	_, err = vfs.Write(ctx, agent, "/notes/today.md", "Done.\n", f.Revision)
	fmt.Println(err)

	cancel()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output:
	// Water the basil.
	// write /notes/today.md: this path cannot be changed
}

// What an agent adds to be looked into.
func ExampleServe() {
	ctx := context.Background()
	files, err := memfs.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := remotefs.Listen("unix:agent.sock")
	if err != nil {
		log.Fatal(err)
	}
	go remotefs.Serve(ctx, listener, files, nil)
}
