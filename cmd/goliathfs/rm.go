package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func newRm() *cobra.Command {
	var flags storeFlags
	var revision string
	cmd := &cobra.Command{
		Use:        "rm STORE PATH --revision REVISION",
		SuggestFor: []string{"remove", "delete", "del", "unlink"},
		Short:      "Remove one version of a file",
		Long: `Remove the file at PATH if it is at the given revision. Only that one file goes,
never what lies below it.`,
		Example: "  goliathfs rm badger:./store /notes/today.md --revision BoLVjAxyzabc",
		GroupID: groupWrite,
		Args:    takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{Write: true}, func(s *storeurl.Store) error {
				path, ctx := args[1], cmd.Context()
				if revision == "" {
					info, err := vfs.Stat(ctx, s.Backend, path)
					if err != nil {
						return noFile(ctx, s, err)
					}
					return usagef("%s: say which version to remove, it is at --revision %s", info.Path, info.Revision)
				}
				if err := vfs.Remove(ctx, s.Backend, path, vfs.Revision(revision)); err != nil {
					return conflict(ctx, s, path, vfs.Revision(revision), noFile(ctx, s, err))
				}
				path, err := vpath.Clean(path) // "/a/" would look like a directory
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", path)
				return err
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&revision, "revision", "", "the current `revision` of the file, as stat shows it (required)")
	return cmd
}
