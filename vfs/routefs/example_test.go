package routefs_test

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func ExampleNew() {
	ctx := context.Background()
	docs, err := staticfs.New(map[string]string{"/guide.md": "# Guide\n"})
	if err != nil {
		panic(err)
	}
	scratch, err := memfs.New(map[string]string{"/todo": "", "/docs/hidden": ""}, nil)
	if err != nil {
		panic(err)
	}
	files, err := routefs.New(scratch, []routefs.Route{{Prefix: "/docs", Backend: docs}}, nil)
	if err != nil {
		panic(err)
	}
	for info, err := range walk.Files(ctx, files, "/") {
		fmt.Println(info.Path, err)
	}
	_, err = vfs.Write(ctx, files, "/docs/new.md", "text", "")
	fmt.Println(err)
	_, err = vfs.Write(ctx, files, "/notes/new.md", "text", "")
	fmt.Println(err)
	// Output:
	// /docs/guide.md <nil>
	// /todo <nil>
	// write /docs/new.md: this path cannot be changed
	// <nil>
}
