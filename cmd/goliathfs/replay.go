package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/review"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/reason"
	safe "github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

type replayOptions struct {
	runner  agentsim.Runner
	agents  agentFlags
	match   string
	store   string
	format  string
	list    bool
	review  bool
	failed  bool // those that failed last
	show    bool
	verbose bool
}

func newReplay() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay [PATH…]",
		Short: "Replay scenarios and compare what they show with their goldens",
		Long: `Replay the scenarios at each PATH, a .txtar file or a directory of them (default
scenarios), without a model, and compare what was shown with the goldens. Only
the step that fails is printed, with what its expectation looked in. With --update
the goldens are written anew, each changed one is named, and the exit status is 1
when there is one; --review shows each change first and asks. In continuous
integration, as the environment tells, both are refused; CI=false says otherwise.

The goldens are in the directory golden beside the directory scenarios that PATH is
or is in; where none has that name, in the directory golden inside PATH, or beside
it when it is a file. --store is mem:, badger:DIR or
sqlite:FILE; journal:FILE@TIME begins with the files of a moment, in memory.`,
		Example: "  goliathfs replay\n  goliathfs replay --failed --show\n  goliathfs replay --review\n  goliathfs replay scenarios/read --run crlf -v\n  goliathfs replay --store badger:/tmp/replay --format junit > report.xml",
		GroupID: groupAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.runner.Paths = args
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.runner.Golden, "golden", "", "the `directory` of the goldens, if not the usual one")
	f.BoolVar(&o.runner.Update, "update", false, "write the goldens anew")
	f.BoolVar(&o.runner.Unreferenced, "unreferenced", false, "with --update, remove the goldens that no scenario has")
	f.BoolVar(&o.review, "review", false, "show each golden that would change, and ask whether to write it")
	registerTokenizer(cmd, &o.runner.Tokenizer, "")
	f.StringVar(&o.match, "run", "", "replay only scenarios whose name matches this `regexp`")
	f.BoolVar(&o.failed, "failed", false, "replay only what failed when it was replayed last from this directory")
	f.BoolVar(&o.runner.FailFast, "fail-fast", false, "end at the first scenario that fails")
	f.IntVar(&o.runner.Parallel, "parallel", 0, "replay this `many` at a time; 0 means one a processor")
	f.StringVar(&o.store, "store", "mem:", "replay over this `URL`, in a namespace each")
	f.StringVar(&o.format, "format", "text", "print `text`, json, junit or github")
	f.BoolVar(&o.list, "list", false, "name the scenarios and what they show, and replay none")
	o.agents.register(cmd)
	f.BoolVar(&o.show, "show", false, "print what each scenario showed, whether it passed or not")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "name also what passed, with its steps")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("run", completeScenario(o.agents.kind))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(agentsim.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *replayOptions) run(cmd *cobra.Command) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	last, err := o.lastFailed()
	if err != nil {
		return err
	}
	if o.failed && len(o.runner.Only) == 0 {
		out := newOutput(cmd)
		out.Printf("nothing of this failed when it was replayed last from this directory\n")
		return out.Flush()
	}
	if o.list {
		return o.printList(newOutput(cmd))
	}
	summary, closeSummary, err := stepSummary(o.format)
	if err != nil {
		return err
	}
	defer closeSummary()
	reporter, err := agentsim.NewReporter(o.format, cmd.OutOrStdout(), agentsim.ReporterOptions{
		Verbose: o.verbose, Show: o.show, StepSummary: summary,
		GitHubLog: os.Getenv("GITHUB_ACTIONS") == "true", Workspace: os.Getenv("GITHUB_WORKSPACE"),
		Hint: "if the change is meant: goliathfs replay --review, or --update and git diff",
	})
	if err != nil {
		return usagef("%w", err)
	}
	noting := &notingReporter{Reporter: reporter, failed: map[string]bool{}}
	o.runner.Reporter = noting
	if o.review {
		o.runner.Review = review.New(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr()).Ask
	}
	return withOpener(func(opener *storeurl.Opener) error {
		var err error
		if o.runner.NewStore, err = replayStores(cmd.Context(), opener, o.store); err != nil {
			return err
		}
		if o.runner.Base, err = replayBase(cmd.Context(), opener, o.store); err != nil {
			return err
		}
		sum, err := o.runner.Run(cmd.Context())
		// The list is a help for the next run: a home that cannot be written fails
		// nothing here, and --failed says so when it is asked for.
		_ = last.Note(noting.failed)
		if err != nil {
			return withNames(err)
		}
		switch {
		case !sum.OK():
			return errReported
		case sum.Skipped > 0 && sum.Passed+sum.Updated == 0:
			return errors.New("every scenario was skipped, so nothing was checked: each says above what it needs")
		}
		return nil
	})
}

// check reads the flags that can be wrong by themselves, or together.
func (o *replayOptions) check(cmd *cobra.Command) error {
	kind, err := o.agents.kind()
	if err != nil {
		return err
	}
	o.runner.Kinds = append(o.runner.Kinds, kind)
	if err := o.checkTogether(cmd); err != nil {
		return err
	}
	if o.runner.Parallel < 0 {
		return usagef("--parallel %d is below 0, 0 means one a processor", o.runner.Parallel)
	}
	if !slices.Contains(agentsim.Formats(), o.format) {
		return usagef("there is no format %q, use one of %s", o.format, strings.Join(agentsim.Formats(), ", "))
	}
	o.runner.Tokenizers = tiktoken.Named
	if err := checkTokenizer(o.runner.Tokenizer); err != nil {
		return err
	}
	if o.match != "" {
		match, err := regexp.Compile(o.match)
		if err != nil {
			return usagef("--run %s is no regular expression: %w", o.match, err)
		}
		o.runner.Match = match
	}
	o.runner.CI = agentsim.InCI(os.Getenv)
	return nil
}

// checkTogether refuses flags of which one says that the other does nothing.
func (o *replayOptions) checkTogether(cmd *cobra.Command) error {
	if o.list {
		for _, name := range []string{"format", "update", "unreferenced", "review", "show", "fail-fast", "store", "parallel"} {
			if cmd.Flags().Changed(name) {
				return usagef("--list names the scenarios and replays none, so --%s does nothing with it: leave one out", name)
			}
		}
	}
	switch {
	case o.runner.Unreferenced && !o.runner.Update:
		return usagef("--unreferenced says what --update removes, add --update")
	case o.runner.Unreferenced && (o.match != "" || o.failed):
		return usagef("--unreferenced needs all scenarios to know which goldens have none, leave out --run and --failed")
	case o.review && o.runner.Update:
		return usagef("--review asks before it writes a golden and --update does not, leave one out")
	case o.review && !(isTerminal(cmd.InOrStdin()) && isTerminal(cmd.ErrOrStderr())):
		return usagef("--review asks a person, and this is no terminal: use --update, then look at what changed with git diff")
	}
	return nil
}

// stepSummary opens the file in which GitHub collects a job's summary.
func stepSummary(format string) (io.Writer, func(), error) {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if format != "github" || name == "" {
		return nil, func() {}, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the step summary that GITHUB_STEP_SUMMARY names, unset it or name a file that can be written: %w", reason.Of(err))
	}
	return f, func() { f.Close() }, nil // the summary is an extra: a failure to close it fails nothing
}

func (o *replayOptions) printList(out *output) error {
	found, err := o.runner.List()
	if err != nil {
		return withNames(err)
	}
	var failures []error
	for _, l := range found {
		sc, err := l.Load(o.runner.Kinds...)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		out.Printf("%s\n", safe.Name(l.Name))
		for line := range strings.Lines(strings.TrimSpace(safe.Text(sc.Description))) { // none without a description
			out.Printf("    %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return errors.Join(append(failures, out.Flush())...)
}

// withNames adds to an error that no scenario was selected how to see their names.
func withNames(err error) error {
	if errors.Is(err, agentsim.ErrNoMatch) {
		return fmt.Errorf("%w, see their names with goliathfs replay --list", err)
	}
	return err
}
