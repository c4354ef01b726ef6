package badgerfs_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

func Example() {
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	store, err := badgerfs.Open(ctx, dir, &badgerfs.Options{Namespace: "alice"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	info, err := vfs.Write(ctx, store, "/todo.md", "- buy milk\n", "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := vfs.Write(ctx, store, "/todo.md", "- buy oat milk\n", info.Revision); err != nil {
		log.Fatal(err)
	}
	_, err = vfs.Write(ctx, store, "/todo.md", "- buy nothing\n", info.Revision)
	fmt.Println(err)
	file, err := vfs.Read(ctx, store, "/todo.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(file.Content)
	// Output:
	// write /todo.md: the file is not at the expected revision
	// - buy oat milk
}
