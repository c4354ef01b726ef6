package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newHelp replaces the library's help, which ends well for a verb that does not
// exist.
func newHelp() *cobra.Command {
	var manual string
	cmd := &cobra.Command{
		Use:     "help [VERB [VERB]]",
		Short:   "Show help for a verb, or write a manual",
		Example: "  goliathfs help copy\n  goliathfs help --man ./man/man1 && man -l ./man/man1/goliathfs-copy.1",
		Args:    takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("man") {
				switch {
				case len(args) > 0:
					return usagef("--man writes the pages of all verbs, leave out %q", args[0])
				case manual == "":
					return usagef("say where the pages go: --man DIR")
				}
				pages, err := writeManual(cmd.Root(), manual)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s to %s\n", count(pages, "page", "pages"), printable(manual))
				}
				return err
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&manual, "man", "", "write a page of the manual for each verb into this `directory`")
	return cmd
}
