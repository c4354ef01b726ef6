package journalfs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// A file is looked at as it was before it was changed.
func ExampleWrap() {
	if err := lookBack(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: water the mint
}

func lookBack(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "agent.journal")
	backend, err := memfs.New(nil, nil)
	if err != nil {
		return err
	}

	journal, err := journalfs.Open(name, nil)
	if err != nil {
		return err
	}
	defer journal.Close()
	store, err := journalfs.Wrap(ctx, backend, journal) // the agent is given this one
	if err != nil {
		return err
	}

	first, err := vfs.Write(ctx, store, "/todo.md", "water the mint", "")
	if err != nil {
		return err
	}
	if _, err := vfs.Write(ctx, store, "/todo.md", "done", first.Revision); err != nil {
		return err
	}

	history, err := journalfs.OpenHistory(name)
	if err != nil {
		return err
	}
	defer history.Close()
	then, err := history.At(ctx, journalfs.Moment{Revision: first.Revision})
	if err != nil {
		return err
	}
	f, err := vfs.Read(ctx, then, "/todo.md")
	if err != nil {
		return err
	}
	fmt.Println(f.Content)
	return nil
}
