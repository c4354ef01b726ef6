package agenttool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func Example() {
	ctx := context.Background()
	files, err := memfs.New(map[string]string{"/guide.md": "# Gardening\nWater the basil on Tuesday.\n"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	tools, err := agenttool.New(agenttool.Options{Backend: files})
	if err != nil {
		log.Fatal(err)
	}
	result, err := tools.Call(ctx, agenttool.Scope{Conversation: "work"}, "grep", []byte(`{"pattern":"BASIL"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text) // what the model sees, within its budget
	// Output: {"matches":[{"path":"/guide.md","revision":"PztpsvEsg20F","line":2,"excerpt":"Water the basil on Tuesday."}],"nextCursor":null}
}
