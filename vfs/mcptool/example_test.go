package mcptool_test

import (
	"context"
	"log"
	"os"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func Example() {
	ctx := context.Background()
	files, err := memfs.New(map[string]string{"/guide.md": "# Guide\n"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	toolset, err := agenttool.New(agenttool.Options{Backend: files})
	if err != nil {
		log.Fatal(err)
	}
	server, err := mcptool.New(toolset, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	err = server.ServeStdio(ctx, os.Stdin, os.Stdout) // or server.Handler(nil), an http.Handler
	if err != nil {
		log.Fatal(err)
	}
}
