package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

type recordOptions struct {
	storeFlags
	store string
	out   string
	rec   blackbox.RecordOptions
}

func newRecord() *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record --to URL [--store STORE] -- COMMAND…",
		Short: "Record an agent with its real model, as a scenario",
		Long: `Run an agent with its real model at the URL, through a proxy on this machine that
passes everything on as it comes, and write a scenario that replays what was said
without the model. The agent runs here, with the whole environment, and finds the
proxy in OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST and GOLIATHFS_MODEL_URL,
or where its command has {model}.

With --store it gets the tools over MCP, at GOLIATHFS_MCP_URL, {mcp}, or
{goliathfs} relay {stdio}: over a copy in memory, so that the store stays as it is.

The scenario holds what the person asked, what the model answered, and the files:
no header, no key, and the system prompt only with --with-system. Read it before
you share it, then run goliathfs replay --run-agents --update on it.`,
		Example: `  goliathfs record --to https://api.openai.com/v1 --store static:./docs -- python agent.py "Fix it."
  goliathfs record --to http://127.0.0.1:11434 --out scenarios/agent/typo.txtar -- ./agent`,
		GroupID: groupAgent,
		Args:    o.checkArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.storeFlags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.rec.Upstream, "to", "", "the `URL` of the real model, such as https://api.openai.com/v1")
	f.StringVar(&o.store, "store", "", "give the agent the tools, over a copy of the store at this `URL`")
	f.StringVar(&o.out, "out", "scenario.txtar", "the `file` of the scenario")
	f.BoolVar(&o.rec.Writable, "allow-writes", false, "offer writeFile, editFile and deleteFile, which change the copy")
	registerTokenizer(cmd, &o.rec.Tokenizer, "")
	f.BoolVar(&o.rec.System, "with-system", false, "keep the system prompts, in the scenario's description")
	return cmd
}

func (o *recordOptions) checkArgs(cmd *cobra.Command, args []string) error {
	switch {
	case o.rec.Upstream == "":
		return usagef("say where the real model is: --to URL")
	case len(args) == 0:
		return usagef("too few arguments, write the agent's command behind --, for example: %s", firstExample(cmd))
	case cmd.ArgsLenAtDash() != 0:
		return usagef("write -- before the agent's command, so that its flags are its own")
	case filepath.Ext(o.out) != ".txtar":
		return usagef("--out %s is no name of a scenario, end it in .txtar", shellWord(o.out))
	case o.store == "" && (o.rec.Writable || len(o.routes) > 0):
		return usagef("--allow-writes and --route are for --store, which is missing")
	}
	if _, err := wire.NewRecorder(o.rec.Upstream, nil); err != nil {
		return usagef("--to: %w", err)
	}
	return nil
}

func (o *recordOptions) run(cmd *cobra.Command, args []string) error {
	if err := checkTokenizer(o.rec.Tokenizer); err != nil {
		return err
	}
	o.rec.Tokenizers = tiktoken.Named
	if err := checkNew(o.out); err != nil {
		return err
	}
	if o.store != "" {
		err := o.withStore(cmd, o.store, storeurl.Want{}, func(s *storeurl.Store) error {
			var err error
			o.rec.Files, err = seedsOf(cmd.Context(), s.Backend)
			return err
		})
		if err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the path of this program, which agents may need: %w", err)
	}
	o.rec.Command, o.rec.Program = args, self
	o.rec.Stdin, o.rec.Stdout, o.rec.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if out, ok := unscreened(o.rec.Stdout); ok { // the agent has the terminal as if it were started alone
		o.rec.Stdout = out
	}
	if errout, ok := unscreened(o.rec.Stderr); ok {
		o.rec.Stderr = errout
	}
	recording, err := blackbox.Record(cmd.Context(), o.rec)
	if err != nil {
		return err
	}
	text, err := recording.Scenario("What an agent and its real model said, recorded.")
	if err != nil {
		return err
	}
	if err := writeRecording(cmd, o.out, text, 0o600); err != nil {
		return err
	}
	for _, p := range recording.Problems {
		fmt.Fprintf(cmd.ErrOrStderr(), "a replay may differ: %s\n", p)
	}
	if recording.OnlyErrors() {
		fmt.Fprintf(cmd.ErrOrStderr(), "the model answered with errors alone: look whether --to is its address and the agent has a key, unless they are what you want\n")
	}
	for _, s := range blackbox.Suspects(text) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", o.out, s)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s: read it, then run goliathfs replay --run-agents --update %s\n", o.out, shellWord(o.out))
	switch {
	case errors.Is(recording.Stopped, context.Canceled):
		return &interruptedError{fmt.Sprintf("interrupted, so %s ends where the agent was stopped", o.out)}
	case recording.Stopped != nil:
		return fmt.Errorf("%w, and %s ends there", recording.Stopped, o.out)
	case recording.Status != 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "the agent ended with status %d\n", recording.Status)
	}
	return nil
}

// maxSeeds is how much text a scenario is given, in bytes: more is no scenario that
// anyone reads.
const maxSeeds = 16 << 20

// seedsOf reads all files of a store.
func seedsOf(ctx context.Context, b vfs.Backend) (map[string]string, error) {
	files := map[string]string{}
	total := 0
	for info, err := range walk.Files(ctx, b, "/") {
		if err != nil {
			return nil, err
		}
		f, err := vfs.Read(ctx, b, info.Path)
		if err != nil {
			return nil, err
		}
		if total += len(f.Content); total > maxSeeds {
			return nil, fmt.Errorf("the store holds more than %d bytes, which is too much for a scenario: copy the part that the agent needs to a store of its own and name that", maxSeeds)
		}
		files[info.Path] = f.Content
	}
	return files, nil
}
