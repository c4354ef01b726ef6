package main

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/commandline"
)

// The scripts of the library have the shell evaluate the line that is being typed, and
// put names into it that it evaluates with the next press of the key. These evaluate
// nothing: they hand the line, or its words, to this program, which answers with words
// that are quoted already, or that the shell quotes.

const bashScript = `# bash completion for goliathfs: source <(goliathfs completion bash)
_goliathfs() {
    local answer directive
    COMPREPLY=()
    {
        IFS= read -r -d '' directive
        while IFS= read -r -d '' answer; do COMPREPLY+=("$answer"); done
    } < <("$1" completion words bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    case $directive in
        nospace) compopt -o nospace ;;
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
    esac
}
complete -F _goliathfs goliathfs
`

const zshScript = `#compdef goliathfs
# zsh completion for goliathfs: source <(goliathfs completion zsh)
_goliathfs() {
    local answer directive
    local -a found shown suffix
    {
        IFS= read -r -d '' directive
        while IFS= read -r -d '' answer; do
            found+=("${answer%%$'\t'*}")
            shown+=("${answer/$'\t'/  -- }")
        done
    } < <("${(Q)words[1]}" completion words zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    case $directive in
        nospace) suffix=(-S '') ;;
        files) (( $#found )) || { _files; return } ;;
        folders) (( $#found )) || { _files -/; return } ;;
    esac
    compadd -l -d shown "${suffix[@]}" -a found
}
if [ "$funcstack[1]" = _goliathfs ]; then
    _goliathfs "$@"
else
    compdef _goliathfs goliathfs
fi
`

const fishScript = `# fish completion for goliathfs: goliathfs completion fish | source
function __goliathfs_words
    set -l words (commandline -opc)
    goliathfs completion words fish $words[2..-1] (commandline -ct | string unescape) 2>/dev/null
end
complete -c goliathfs -f -a '(__goliathfs_words)'
`

// addCompletion adds the library's completion verb, with scripts of our own.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	scripts := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		for _, shell := range c.Commands() {
			shell.Args = takes(0, 0)
			if script := scripts[shell.Name()]; script != "" {
				shell.ResetFlags()
				shell.RunE = func(cmd *cobra.Command, _ []string) error {
					_, err := io.WriteString(cmd.OutOrStdout(), script)
					return err
				}
			}
		}
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(*cobra.Command, []string) error {
			return usagef("name a shell: bash, zsh, fish or powershell, for example: source <(goliathfs completion bash)")
		}
		c.AddCommand(newCompletionWords())
	}
}

// newCompletionWords is what the scripts ask. Bash hands over the line up to the cursor,
// the others its words.
func newCompletionWords() *cobra.Command {
	return &cobra.Command{
		Use:                "words SHELL WORD…",
		Short:              "Answer the script of a shell",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("this is for the scripts that goliathfs completion SHELL prints")
			}
			if args[0] != "bash" {
				return answer(cmd, args[0], args[1:], nil)
			}
			line := commandline.Parse(args[1], strings.Join(args[2:], ""))
			if !line.Known || len(line.Words) < 2 {
				return nil
			}
			return answer(cmd, "bash", line.Words[1:], line.Put)
		},
	}
}

// answer prints what may stand in the place of the last word, each ending in a NUL,
// behind what the shell is to do besides: nospace, files, folders or nothing.
func answer(cmd *cobra.Command, shell string, words []string, put func(string) (string, bool)) error {
	found, directive := completionsOf(cmd.Context(), words)
	var out bytes.Buffer
	end := "\x00"
	if shell == "fish" {
		end = "\n"
	} else {
		out.WriteString(directiveWord(directive) + end)
	}
	last := words[len(words)-1]
	for _, f := range found {
		word, about, _ := strings.Cut(f, "\t")
		if !strings.HasPrefix(word, last) {
			continue
		}
		if put != nil {
			ok := false
			if f, ok = put(word); !ok {
				continue
			}
		} else if about == "" {
			f = word
		}
		out.WriteString(f + end)
	}
	_, err := cmd.OutOrStdout().Write(out.Bytes())
	return err
}

func directiveWord(d cobra.ShellCompDirective) string {
	switch {
	case d&cobra.ShellCompDirectiveFilterDirs != 0:
		return "folders"
	case d&cobra.ShellCompDirectiveNoFileComp == 0:
		return "files"
	case d&cobra.ShellCompDirectiveNoSpace != 0:
		return "nospace"
	}
	return "words"
}

// anyName is the key of a context in which names may hold what shells act on: who asks
// quotes them.
type anyName struct{}

// completionsOf asks the library what may stand in the place of the last word: each
// with what is said about it behind a tab.
func completionsOf(ctx context.Context, words []string) ([]string, cobra.ShellCompDirective) {
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	if err := root.ExecuteContext(context.WithValue(ctx, anyName{}, true)); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	n, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(n)
}
