package agentsim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goliathfs/goliathfs/agentsim"
)

func ExampleReplay() {
	scenario, err := agentsim.Parse("typo.txtar", "docs/typo", []byte(`Find the typo.

-- scenario.yaml --
version: 1
calls:
  - {tool: grep, input: {pattern: recieve}, expect: {maxTokens: 64}}
-- files/guide.md --
you will recieve a reply
`))
	if err != nil {
		log.Fatal(err)
	}
	transcript, err := agentsim.Replay(context.Background(), scenario, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", transcript.Golden())
	// Output:
	// What scenario docs/typo shows. Written by replay --update; review it, do not edit it.
	//
	// -- 1 grep --
	// input: {"pattern":"recieve"}
	// page 1: 36 of 512 tokens
	// {"matches":[{"path":"/guide.md","revision":"<rev:1>","line":1,"excerpt":"you will recieve a reply"}],"nextCursor":null}
	// -- file /guide.md --
	// you will recieve a reply
}
