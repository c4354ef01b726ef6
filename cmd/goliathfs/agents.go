package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
)

// agentFlags say which agent runs in scenarios that have wire.
type agentFlags struct {
	run     bool
	command string
}

func (a *agentFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&a.run, "run-agents", false, "run the commands that scenarios with wire: name, as programs of this user")
	f.StringVar(&a.command, "agent", "", "run this `command` of the shell as the agent of each scenario with wire:")
}

// kind is that of scenarios with wire.
func (a *agentFlags) kind() (agentsim.Kind, error) {
	if a.run && a.command != "" {
		return nil, usagef("--agent runs in place of the commands that --run-agents permits, leave one out")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the path of this program, which agents may need: %w", err)
	}
	return blackbox.Kind(&blackbox.Options{
		RunCommands: a.run, Command: a.command, Program: self,
		Hint: "read the command and pass --run-agents, or name an agent with --agent COMMAND",
	}), nil
}
