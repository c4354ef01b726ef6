package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/glob"
	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newFind() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "find STORE GLOB",
		Short: "Find files by a pattern of their paths",
		Long: `Print the paths of the files that GLOB matches, a line each. GLOB starts with /;
"*" stands for any characters of a segment, "**" also across segments, "/**/" also for
none, "?" for one character, and everything else for itself. Quote it, or the shell
takes it for a pattern of its own.

Exit status: 0 a file was found, 1 none was, 2 wrong use or a failure.`,
		Example: "  goliathfs find badger:./store '/**/*.md'\n  goliathfs find --json unix:./agent.sock '/notes/*' | jq -r .path",
		GroupID: groupLook,
		Args:    takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			pattern, err := glob.Compile(args[1])
			if err != nil {
				return usagef("%w", err)
			}
			return searched(flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				if err := tellUnlisted(cmd, s, "/"); err != nil {
					return err
				}
				out := &lsOptions{json: asJSON}
				return findFiles(cmd.Context(), s.Backend, pattern, newOutput(cmd), out.print)
			}))
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a file")
	return cmd
}

// findFiles prints the files that match; errReported says that there are none.
func findFiles(ctx context.Context, b vfs.Backend, pattern *glob.Pattern, out *output, print func(*output, walk.Entry) error) error {
	defer out.Flush()
	found := false
	files := pattern.Walk(b, pattern.Dir(), "", listing.MaxPage)
	for {
		info, match, ok, err := files.Next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if !match {
			continue
		}
		found = true
		if err := print(out, walk.Entry{Info: info}); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil || found {
		return err
	}
	return errReported
}
