package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/toolcall"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

type callOptions struct {
	storeFlags
	store                string
	allowWrites          bool
	all, asJSON, asJSONL bool
	limits               limitFlags
}

func newCall() *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use:   "call [--store STORE] {TOOL JSON | --jsonl}",
		Short: "Call an agent's tool and print what the model would see",
		Long: `Call one of the tools glob, grep, readFile, writeFile, editFile and deleteFile
with a JSON object of arguments ("-" reads it from standard input) and print
exactly the text that the model would see. A refusal by the tool is such a text
too; the exit status is then 1.

With --jsonl, standard input holds requests, one JSON object a line:
  {"tool":…,"input":{…},"all":bool,"options":{"root":…,"maxTokens":…,…}}
where all and options may be absent and override the flags. Each line is
answered by one line, in order and at once:
  {"ok":true,"pages":[{"output":…,"text":…,"tokens":N},…]}
  {"ok":false,"error":{"code":…,"message":…},"pages":[those before it]}
One store stays open over all of them, so mem: keeps what was written. The exit
status is 0 when every line was answered, also by refusals.`,
		Example: `  goliathfs call --store static:./docs glob '{"pattern":"/**/*.md"}'
  goliathfs call --store badger:./store --all grep '{"pattern":"basil"}'
  goliathfs call --jsonl --allow-writes < requests.jsonl`,
		GroupID: groupAgent,
		Args:    o.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withStore(cmd, o.store, o.want(args), func(s *storeurl.Store) error {
				return o.run(cmd, s, args)
			})
		},
		ValidArgsFunction: completeTool,
	}
	o.register(cmd)
	return cmd
}

func (o *callOptions) register(cmd *cobra.Command) {
	o.storeFlags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.store, "store", "mem:", "the `URL` of the store")
	f.BoolVar(&o.allowWrites, "allow-writes", false, "permit writeFile, editFile and deleteFile")
	f.BoolVar(&o.all, "all", false, "follow nextCursor to the end, page by page")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object a page: output, text, tokens")
	f.BoolVar(&o.asJSONL, "jsonl", false, "read requests from standard input, one a line")
	o.limits.register(cmd)
}

func (o *callOptions) checkArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && strings.Contains(args[0], ":"), len(args) > 2 && slices.Contains(toolNames(), args[1]):
		return usagef("the store goes behind --store, write goliathfs call --store %s TOOL JSON", shellWord(args[0]))
	case o.asJSONL && len(args) > 0:
		return usagef("--jsonl takes its requests from standard input, leave out %q", args[0])
	case o.asJSONL && o.asJSON:
		return usagef("--jsonl prints JSON anyway, leave out --json")
	case o.asJSONL:
		return nil
	}
	if err := takes(2, 2)(cmd, args); err != nil {
		return err
	}
	if !slices.Contains(toolNames(), args[0]) {
		return usagef("there is no tool %q, the tools are %s", args[0], strings.Join(toolNames(), ", "))
	}
	return nil
}

func toolNames() []string {
	var names []string
	for _, t := range agenttool.All() {
		names = append(names, t.Name)
	}
	return names
}

// want makes a store only for calls that write the first file.
func (o *callOptions) want(args []string) storeurl.Want {
	switch {
	case !o.allowWrites:
		return storeurl.Want{}
	case o.asJSONL, args[0] == agenttool.WriteFile:
		return storeurl.Want{Write: true, Create: true, Lazy: true}
	}
	return storeurl.Want{Write: true}
}

func (o *callOptions) run(cmd *cobra.Command, s *storeurl.Store, args []string) error {
	runner := &toolcall.Runner{
		Backend:     s.Backend,
		AllowWrites: o.allowWrites,
		Defaults:    o.limits.given(cmd.Flags()),
		All:         o.all,
	}
	if _, err := runner.Toolset(toolcall.Options{}); err != nil {
		return limitError(err)
	}
	defer func() {
		if runner.Denied != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s was refused because files may only be read, pass --allow-writes to let it change them\n", runner.Denied)
		}
	}()
	if o.asJSONL {
		err := runner.Lines(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		if err == nil {
			err = tellUnlisted(cmd, s, o.limits.root)
		}
		return err
	}
	if !cmd.Flags().Changed("store") && !o.allowWrites {
		fmt.Fprintln(cmd.ErrOrStderr(), "no --store was given, so the tool looks into an empty store in memory")
	}
	input := args[1]
	if input == "-" {
		var err error
		if input, err = readStdin(cmd); err != nil {
			return err
		}
	}
	last, err := o.single(cmd.Context(), runner, newOutput(cmd), toolcall.Request{Tool: args[0], Input: json.RawMessage(input)}, isTerminal(cmd.OutOrStdout()))
	searches := args[0] == agenttool.Glob || args[0] == agenttool.Grep
	if err == nil && searches && last.Next() == "" { // else there is more to come anyway
		err = tellUnlisted(cmd, s, o.limits.root)
	}
	if err == nil && toolcall.Writes(args[0]) && len(o.routes) == 0 {
		tellGone(cmd, s.Spec, "/")
	}
	return err
}

// single runs one call. Without --json it writes the text of each page byte for
// byte, with a line feed between pages, and one behind the last on a terminal. It
// returns the output of the last page.
func (o *callOptions) single(ctx context.Context, runner *toolcall.Runner, out *output, req toolcall.Request, terminal bool) (last agenttool.Output, err error) {
	defer out.Flush()
	pages := 0
	err = runner.Run(ctx, req, func(p toolcall.Page) error {
		last = p.Output
		if o.asJSON {
			out.JSON(p)
			return out.Flush()
		}
		if pages++; pages > 1 {
			out.Printf("\n")
		}
		out.Printf("%s", p.Text)
		return out.Flush()
	})
	if out.Err() != nil {
		return last, out.Err()
	}
	var refusal *agenttool.Error
	if errors.As(err, &refusal) {
		if o.asJSON {
			out.JSON(struct {
				Error *toolcall.Failure `json:"error"`
			}{toolcall.FailureOf(err)})
		} else if ctx.Err() == nil {
			if pages > 0 {
				out.Printf("\n")
			}
			out.Printf("%s", refusal.Error())
		}
		err = errReported
		if ctx.Err() != nil { // a person ended it, and no model reads on
			err = ctx.Err()
		}
	}
	if terminal && !o.asJSON && ctx.Err() == nil {
		out.Printf("\n")
	}
	if flushErr := out.Flush(); flushErr != nil {
		return last, flushErr
	}
	return last, err
}

func completeTool(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, name := range toolNames() {
		if strings.HasPrefix(name, word) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
