package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
	"github.com/goliathfs/goliathfs/internal/reason"
	safe "github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

type importOptions struct {
	from, out string
}

func newImport() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Make scenarios of what agents wrote down",
		Long: `Make a scenario of each transcript: what the agent did with files, as calls of
these tools over the files that it was shown. Formats, recognised or named by
--from: ` + formatList() + `.

Prompts, answers, ids, times and the output of other tools stay out, and paths lose
the working folder. Tools of other names are taken where they mean the same; what
is left out, seeds that are not whole and lines that are damaged are told on
standard error. What looks like a secret refuses the transcript, with its line.

Each scenario gets its golden too, so that it replays at once: read both.`,
		Example: "  goliathfs import session.jsonl\n  goliathfs import --from otel traces/*.json --out scenarios/production",
		GroupID: groupAgent,
		Args:    takes(1, -1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "the `format` of the transcripts; recognised when not given")
	f.StringVar(&o.out, "out", filepath.Join("scenarios", "imported"), "the `directory` of the scenarios")
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range transcript.Formats() {
		names = append(names, string(f))
	}
	return names
}

func formatList() string { return strings.Join(formatNames(), ", ") }

func (o *importOptions) run(cmd *cobra.Command, files []string) error {
	if o.from != "" && !slices.Contains(formatNames(), o.from) {
		return usagef("--from is %q, it must be one of %s", o.from, formatList())
	}
	var failures []error
	for _, name := range files {
		if err := o.one(cmd, name); err != nil {
			failures = append(failures, err)
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	if len(failures) < 2 {
		return errors.Join(failures...)
	}
	for _, err := range failures {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), safe.Line(err))
	}
	return errReported
}

// one imports one transcript.
func (o *importOptions) one(cmd *cobra.Command, name string) error {
	t, err := await(cmd.Context(), func() (*transcript.Transcript, error) { return o.read(name) })
	if err != nil {
		return err
	}
	for _, d := range t.Damaged {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s:%d: passed over: %s\n", safe.Text(name), d.Line, safe.Text(d.Why))
	}
	s, err := t.Scenario(cmd.Context())
	var secret *transcript.SecretError
	switch {
	case errors.As(err, &secret):
		return err // it names the file
	case errors.Is(err, transcript.ErrNothing):
		tellLeftOut(cmd, t.LeftOut)
		return fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return writeScenario(cmd, filepath.Join(o.out, scenarioName(name)), s)
}

// read reads one transcript, which may come from a pipe.
func (o *importOptions) read(name string) (*transcript.Transcript, error) {
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s, name a transcript that an agent wrote", cmp.Or(name, `""`))
	case err != nil:
		return nil, unreadTranscript(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, name the transcripts in it", name)
	}
	t, err := transcript.Read(f, &transcript.Options{Format: transcript.Format(o.from), File: name})
	switch {
	case errors.Is(err, transcript.ErrUnknownFormat):
		return nil, fmt.Errorf("%s: %w: name it with --from if it is one of them all the same", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func unreadTranscript(name string, err error) error {
	return fmt.Errorf("the transcript %s cannot be read, name another one or look at its rights: %w", name, reason.Of(err))
}

// scenarioName is the name of the scenario of a transcript.
func scenarioName(file string) string {
	base := filepath.Base(file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, base) + ".txtar"
}

// writeScenario writes a new scenario and its golden, and tells what a person
// should know of it. What an agent wrote down can be imported again, so nothing is
// written of a scenario that has no golden.
func writeScenario(cmd *cobra.Command, name string, s *transcript.Scenario) error {
	tellScenario(cmd, s)
	golden, err := goldenOf(cmd.Context(), name, s.Data, "")
	if err != nil {
		return err
	}
	if err := writeNew(name, s.Data, 0o644); err != nil {
		return err
	}
	path, err := writeGolden(name, golden)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s of %s, and its golden %s\n", name, counted(s.Calls, "call"), path)
	return err
}

// tellScenario tells how a scenario differs from what it was made of.
func tellScenario(cmd *cobra.Command, s *transcript.Scenario) {
	for _, p := range s.Partial {
		fmt.Fprintf(cmd.ErrOrStderr(), "partial: %s: %s\n", safe.Text(p.Path), safe.Text(p.Why))
	}
	tellLeftOut(cmd, s.LeftOut)
	for _, d := range s.Differs {
		fmt.Fprintf(cmd.ErrOrStderr(), "differs: call %d, %s, was %s for the agent and is %s in the scenario\n", d.Call, d.Tool, safe.Text(d.Was), safe.Text(d.Is))
	}
}

// writeGolden writes the golden of a scenario, and returns where that is.
func writeGolden(scenario string, golden []byte) (path string, err error) {
	found, err := agentsim.Find("", scenario)
	if err != nil {
		return "", err
	}
	_, err = agentsim.WriteGolden(found[0].Golden, golden)
	return found[0].Golden, err
}

func goldenOf(ctx context.Context, name string, data []byte, tokenizer string) ([]byte, error) {
	scenario := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if i := slices.Index(strings.Split(filepath.ToSlash(name), "/"), "scenarios"); i >= 0 {
		parts := strings.Split(filepath.ToSlash(name), "/")
		scenario = strings.TrimSuffix(strings.Join(parts[i+1:], "/"), filepath.Ext(name))
	}
	sc, err := agentsim.Parse(name, scenario, data)
	if err != nil {
		return nil, err
	}
	shown, err := agentsim.Replay(ctx, sc, &agentsim.ReplayOptions{Tokenizer: tokenizer, Tokenizers: tiktoken.Named})
	if err != nil {
		return nil, err
	}
	return shown.Golden(), nil
}

func tellLeftOut(cmd *cobra.Command, left []transcript.LeftOut) {
	for _, l := range left {
		why := "it does not work on files as these tools do"
		if l.Why != "" {
			why = l.Why
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s of %s: %s\n", counted(l.Calls, "call"), safe.Text(l.Tool), safe.Text(why))
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
