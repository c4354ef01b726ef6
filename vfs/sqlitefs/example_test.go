package sqlitefs_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// An app's database, copied from a phone, opens without a change to it.
func ExampleOpen() {
	ctx := context.Background()
	s, err := sqlitefs.Open(ctx, filepath.Join("testdata", "agent-files.db"), &sqlitefs.Options{Namespace: "notes", ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for info, err := range walk.Files(ctx, s, "/") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.ModTime.UTC().Format("2006-01-02"), info.Size, info.Path)
	}
	// Output:
	// 2026-11-29 23 /100%/my_repo.md
	// 2026-11-29 13 /100x/myXrepo.md
	// 2026-11-29 28 /today.md
}
