package turn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func ExampleAgent_Run() {
	files, err := memfs.New(map[string]string{"/docs/guide.md": "Water the basil on Tuesday.\n"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	tools, err := agenttool.New(agenttool.Options{Backend: files, Root: "/docs"})
	if err != nil {
		log.Fatal(err)
	}
	memories, err := memory.Files(files, &memory.FilesOptions{AgentRoots: []string{"/docs"}})
	if err != nil {
		log.Fatal(err)
	}
	model := turn.NewScripted( // any Model: this one plays a script
		turn.ScriptedReply{Reply: turn.Reply{ToolCall: &turn.ToolCall{Name: "grep", Input: []byte(`{"pattern":"basil"}`)}}},
		turn.ScriptedReply{Reply: turn.Reply{JSON: []byte(`{"kind":"answer","brief":"tell the day"}`)}},
		turn.ScriptedReply{Reply: turn.Reply{Text: "On Tuesday."}},
	)
	agent, err := turn.New(model, turn.Options{Files: tools, MemoryFor: memories})
	if err != nil {
		log.Fatal(err)
	}
	out, err := agent.Run(context.Background(), "When should I water the basil?", &turn.RunOptions{Conversation: "garden"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Answer, out.HandledBy, len(out.Steps))
	remembered, err := memory.Show(context.Background(), files, "", "garden")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(remembered.Path, remembered.State.Recent[0].Steps)
	// Output:
	// On Tuesday. device 1
	// /.memory/garden.json [grep: ok]
}
