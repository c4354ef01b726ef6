package main

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/toolcall"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
)

// limitFlags are the root, budget and limits of the tools, for every verb that
// runs them.
type limitFlags struct {
	root                    string
	tokenizer               string
	maxTokens, defaultLines int
	maxLines, maxMatches    int
	maxFiles                int
}

func (l *limitFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.root, "root", "/", "confine the tools to this `directory`")
	f.IntVar(&l.maxTokens, "max-tokens", 512, "budget of a result, in `tokens`")
	registerTokenizer(cmd, &l.tokenizer, tiktoken.Estimate)
	f.IntVar(&l.defaultLines, "default-lines", 25, "`lines` that readFile gives when none are asked")
	f.IntVar(&l.maxLines, "max-lines", 200, "most `lines` that readFile can be asked for, 1 to 1000")
	f.IntVar(&l.maxMatches, "max-matches", 10, "most `matches` a page of a search, 1 to 100")
	f.IntVar(&l.maxFiles, "max-files", 0, "pause a search after so many `files`, 1 to 1024; else never")
}

// registerTokenizer adds the flag of verbs that have a budget.
func registerTokenizer(cmd *cobra.Command, into *string, preset string) {
	cmd.Flags().StringVar(into, "tokenizer", preset, "count tokens by `NAME`: "+strings.Join(tiktoken.Names(), ", "))
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("tokenizer", cobra.FixedCompletions(tiktoken.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// checkTokenizer refuses a name that is none; "" is no choice.
func checkTokenizer(name string) error {
	if name != "" && !slices.Contains(tiktoken.Names(), name) {
		return usagef("--tokenizer is %q, it must be one of %s", name, strings.Join(tiktoken.Names(), ", "))
	}
	return nil
}

// given are the flags that were given; the others keep the tools' defaults.
func (l *limitFlags) given(flags *pflag.FlagSet) toolcall.Options {
	var o toolcall.Options
	setText := func(name string, from *string, to **string) {
		if flags.Changed(name) {
			*to = from
		}
	}
	set := func(name string, from *int, to **int) {
		if flags.Changed(name) {
			*to = from
		}
	}
	setText("root", &l.root, &o.Root)
	setText("tokenizer", &l.tokenizer, &o.Tokenizer)
	set("max-tokens", &l.maxTokens, &o.MaxTokens)
	set("default-lines", &l.defaultLines, &o.DefaultLines)
	set("max-lines", &l.maxLines, &o.MaxLines)
	set("max-matches", &l.maxMatches, &o.MaxMatches)
	set("max-files", &l.maxFiles, &o.MaxFiles)
	return o
}

// limitError says which flag is wrong, of an error about options of tools.
func limitError(err error) error {
	var option *toolcall.OptionError
	if errors.As(err, &option) {
		return usagef("--%s %s", flagOf(option.Name), option.Text)
	}
	return usagef("%s", toolcall.FailureOf(err).Message)
}

// flagOf is the flag for an option of requests: --max-lines for maxLines.
func flagOf(option string) string {
	var name strings.Builder
	for _, r := range option {
		if unicode.IsUpper(r) {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
