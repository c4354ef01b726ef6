package main

import (
	"cmp"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of the help text.
const (
	groupLook  = "look"
	groupWrite = "write"
	groupAgent = "agent"
	groupMount = "mount"
	groupCare  = "care"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:     "goliathfs",
		Short:   "Keep, look at, mount and replay an agent's virtual text files",
		Version: version(),
		Long: `Goliathfs keeps, looks at, mounts and replays an agent's virtual text files.

A store is named by a URL: mem:, mem:SEED, static:SEED, badger:DIR,
sqlite:FILE, postgres://HOST/DATABASE, backup:FILE, journal:FILE[@TIME or @REVISION],
unix:SOCKET or tcp:127.0.0.1:PORT; dir:PATH is a folder of this machine, for copy and
diff. SEED is a folder, a .json object of path to content, or a .txtar. Databases take
?namespace=N, or * for a read-only view of all. Put another store at a directory with
--route /prefix=URL (or URL,ro for read-only), as often as needed.

Exit status: 0 done, 1 refused or different, 2 wrong use, 130 interrupted.`,
		Example:                    "  goliathfs demo\n  goliathfs copy dir:./docs badger:./store\n  goliathfs ls badger:./store",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			if err := cmd.Help(); err != nil {
				return err
			}
			return usagef("name a verb")
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look into a store:"},
		&cobra.Group{ID: groupWrite, Title: "Change a store:"},
		&cobra.Group{ID: groupAgent, Title: "Be the agent:"},
		&cobra.Group{ID: groupMount, Title: "Mount and serve:"},
		&cobra.Group{ID: groupCare, Title: "Care of stores:"},
	)
	for _, c := range verbs() {
		completeStores(c)
		root.AddCommand(c)
	}
	root.SetHelpCommand(newHelp())
	addCompletion(root)
	return root
}

// version is that of the module, with what else the go command has stamped.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return versionText(info)
}

func versionText(info *debug.BuildInfo) string {
	words := []string{cmp.Or(info.Main.Version, "(unknown)")}
	stamped := map[string]string{}
	for _, s := range info.Settings {
		stamped[s.Key] = s.Value
	}
	if revision := stamped["vcs.revision"]; revision != "" {
		if stamped["vcs.modified"] == "true" {
			revision += " with changes"
		}
		words = append(words, "revision "+revision)
	}
	if at := stamped["vcs.time"]; at != "" {
		words = append(words, "of "+at)
	}
	return strings.Join(append(words, info.GoVersion), ", ")
}

func verbs() []*cobra.Command {
	return []*cobra.Command{
		newLs(), newTree(), newCat(), newStat(), newFind(), newGrep(), newDiff(), newMemory(), newWatch(),
		newCopy(), newWrite(), newEdit(), newCp(), newMv(), newRm(),
		newDemo(), newCall(), newMCP(), newImport(), newReplay(), newModel(), newRecord(), newRelay(),
		newMount(), newUnmount(), newMounts(), newServe(),
		newDoctor(), newStats(), newNamespaces(), newIndex(), newCompact(), newSchema(),
		newCheck(), newBackup(), newRestore(), newJournal(), newLog(),
	}
}

func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return usagef("--%s %s: it takes %s, see %s --help", f.Name, invalid.GetValue(), kindOf(f.Value.Type()), cmd.CommandPath())
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := nearFlags(cmd, unknown.GetSpecifiedName()); len(near) > 0 {
			return usagef("%w, did you mean %s?", err, strings.Join(near, " or "))
		}
	}
	return usagef("%w, %s --help lists what it takes", err, cmd.CommandPath())
}

func kindOf(flagType string) string {
	switch flagType {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return "a " + flagType + " value"
}

// takes checks the number of arguments; most < 0 means any number. The message
// shows how the verb is written, from its Use line and its first example.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("too few arguments, write %s, for example: %s", cmd.UseLine(), firstExample(cmd))
		case most >= 0 && len(args) > most:
			return usagef("%q is one argument too many, write %s (quote an argument that has spaces)", args[most], cmd.UseLine())
		}
		return nil
	}
}

func firstExample(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return line
}
