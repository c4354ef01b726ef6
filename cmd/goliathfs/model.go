package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

func newModel() *cobra.Command {
	listen := "127.0.0.1:0"
	opts := blackbox.ModelOptions{Tokenizers: tiktoken.Named}
	cmd := &cobra.Command{
		Use:   "model SCENARIO",
		Short: "Be the model of an agent, as a scenario scripts it",
		Long: `Answer an agent as the scenario's wire: says, on a port of this machine and in the
protocols of OpenAI (Chat Completions and Responses), Anthropic and Ollama, until
interrupted. One line on standard output says where. Point the agent's base URL
there, with any key. At the end it prints what the model was shown and answered;
the exit status is 1 when that is not what the scenario says.`,
		Example: "  goliathfs model scenarios/agent/typo.txtar\n  goliathfs model typo.txtar --listen 127.0.0.1:8080",
		GroupID: groupAgent,
		Args:    takes(1, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runModel(cmd, listen, args[0], &opts) },
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "the TCP `address`, 127.0.0.1:PORT; port 0: a free one")
	registerTokenizer(cmd, &opts.Tokenizer, "")
	return cmd
}

func runModel(cmd *cobra.Command, listen, path string, opts *blackbox.ModelOptions) error {
	if err := checkTokenizer(opts.Tokenizer); err != nil {
		return err
	}
	if err := storeurl.CheckLoopback(listen); err != nil {
		return usagef("--listen: %w", err)
	}
	model, err := blackbox.LoadModel(path, opts)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no scenario %s, name the .txtar of one that has wire", cmp.Or(path, `""`))
	case err != nil:
		return err
	}
	endpoint, err := wire.ListenAt(listen, model.Handler())
	if err != nil {
		return err
	}
	out := newOutput(cmd)
	out.Printf("answering at %s (OpenAI: %s/v1), end it with Ctrl-C\n", endpoint.URL, endpoint.URL)
	if err := out.Flush(); err != nil {
		return err
	}
	<-cmd.Context().Done()
	_ = endpoint.Close() // a request that is cut off shows in the report
	shown, problems := model.Report()
	out.Printf("%s", shown)
	if err := out.Flush(); err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), p)
	}
	if len(problems) > 0 {
		return errReported
	}
	return nil
}
