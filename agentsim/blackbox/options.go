package blackbox

import (
	"context"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// Agent is an agent in Go. It works until it is done and returns an error if it
// cannot; when ctx ends it must return.
type Agent func(ctx context.Context, e Endpoints) error

// Endpoints is what an agent works with in one scenario.
type Endpoints struct {
	Model string // address of the scripted model, without /v1 and a slash at the end
	MCP   string // address of the MCP server, over streamable HTTP
	Stdio string // host:port that speaks MCP as over stdio, one session a connection
	Work  string // an empty folder
	// Tools are the same tools without MCP, for an agent that offers its model
	// tools in Go. Their results are followed like those over MCP.
	Tools mcptool.Caller
}

// Options adjust the kind; nil or the zero value is the default, which runs no
// agent: every scenario is skipped.
type Options struct {
	// Agent runs in place of the command of each scenario.
	Agent Agent
	// Command is a command line for the shell that runs in place of the command of
	// each scenario, with the scenario's env and files.
	Command string
	// RunCommands permits to run the commands that scenarios name.
	RunCommands bool
	// Program is the path of the goliathfs command, for {goliathfs}; "" refuses
	// scenarios that need it.
	Program string
	// Hint is what the sentence about a scenario that is skipped says to do; ""
	// names these options.
	Hint string
}

// Kind returns the kind of scenario that has wire, to be handed to an
// agentsim.Runner or simtest.
func Kind(opts *Options) agentsim.Kind {
	if opts == nil {
		opts = &Options{}
	}
	o := *opts
	if o.Hint == "" {
		o.Hint = "set Agent or RunCommands of blackbox.Options"
	}
	return func() replay.Script { return &script{opts: o} }
}
