package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

type replayOptions struct {
	runner  agentsim.Runner
	agents  agentFlags
	match   string
	store   string
	format  string
	list    bool
	verbose bool
}

func newReplay() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay [PATH…]",
		Short: "Replay scenarios and compare what they show with their goldens",
		Long: `Replay the scenarios at each PATH, a .txtar file or a directory of them (default
scenarios), without a model, and compare what was shown with the goldens. Only
the step that fails is printed. With --update the goldens are written anew, each
changed one is named, and the exit status is 1 when there is one; where the
environment has CI=true that is refused.`,
		Example: "  goliathfs replay\n  goliathfs replay scenarios/read --run crlf -v\n  goliathfs replay --store badger:/tmp/replay --format junit > report.xml",
		GroupID: groupAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.runner.Paths = args
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.runner.Golden, "golden", "", "the `directory` of the goldens; default: golden beside scenarios")
	f.BoolVar(&o.runner.Update, "update", false, "write the goldens anew")
	registerTokenizer(cmd, &o.runner.Tokenizer, "")
	f.StringVar(&o.match, "run", "", "replay only scenarios whose name matches this `regexp`")
	f.IntVar(&o.runner.Parallel, "parallel", 0, "replay this `many` at a time; 0 means one a processor")
	f.StringVar(&o.store, "store", "mem:", "keep the files in mem:, badger:DIR or sqlite:FILE (`URL`), in a fresh namespace each")
	f.StringVar(&o.format, "format", "text", "print `text`, json, junit or github")
	f.BoolVar(&o.list, "list", false, "name the scenarios and what they show, and replay none")
	o.agents.register(cmd)
	f.BoolVarP(&o.verbose, "verbose", "v", false, "name also what passed, with its steps")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(agentsim.Formats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *replayOptions) run(cmd *cobra.Command) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.list {
		return o.printList(newOutput(cmd))
	}
	summary, closeSummary, err := stepSummary(o.format)
	if err != nil {
		return err
	}
	defer closeSummary()
	o.runner.Reporter, err = agentsim.NewReporter(o.format, cmd.OutOrStdout(), agentsim.ReporterOptions{Verbose: o.verbose, StepSummary: summary})
	if err != nil {
		return usagef("%w", err)
	}
	return withOpener(func(opener *storeurl.Opener) error {
		var err error
		if o.runner.NewStore, err = replayStores(cmd.Context(), opener, o.store); err != nil {
			return err
		}
		sum, err := o.runner.Run(cmd.Context())
		if err != nil {
			return err
		}
		if !sum.OK() {
			return errReported
		}
		return nil
	})
}

// check reads the flags that can be wrong by themselves.
func (o *replayOptions) check() error {
	kind, err := o.agents.kind()
	if err != nil {
		return err
	}
	o.runner.Kinds = append(o.runner.Kinds, kind)
	if o.runner.Parallel < 0 {
		return usagef("--parallel %d is below 0, 0 means one a processor", o.runner.Parallel)
	}
	if !slices.Contains(agentsim.Formats(), o.format) {
		return usagef("there is no format %q, use one of %s", o.format, strings.Join(agentsim.Formats(), ", "))
	}
	o.runner.Tokenizers = tiktoken.Named
	if name := o.runner.Tokenizer; name != "" && !slices.Contains(tiktoken.Names(), name) {
		return usagef("--tokenizer is %q, it must be one of %s", name, strings.Join(tiktoken.Names(), ", "))
	}
	if o.match != "" {
		match, err := regexp.Compile(o.match)
		if err != nil {
			return usagef("--run %s is no regular expression: %w", o.match, err)
		}
		o.runner.Match = match
	}
	o.runner.CI = isCI(os.Getenv("CI"))
	return nil
}

// isCI reads the variable that services of continuous integration set.
func isCI(value string) bool {
	set, err := strconv.ParseBool(value)
	return set || err != nil && value != ""
}

// stepSummary opens the file in which GitHub collects a job's summary.
func stepSummary(format string) (io.Writer, func(), error) {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if format != "github" || name == "" {
		return nil, func() {}, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the step summary that GITHUB_STEP_SUMMARY names: %w", err)
	}
	return f, func() { f.Close() }, nil // the summary is an extra: a failure to close it fails nothing
}

func (o *replayOptions) printList(out *output) error {
	found, err := o.runner.List()
	if err != nil {
		return err
	}
	var failures []error
	for _, l := range found {
		sc, err := l.Load(o.runner.Kinds...)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		out.Printf("%s\n", l.Name)
		for line := range strings.SplitSeq(strings.TrimSpace(sc.Description), "\n") {
			out.Printf("    %s\n", line)
		}
	}
	return errors.Join(append(failures, out.Flush())...)
}
