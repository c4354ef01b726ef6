package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

func newCat() *cobra.Command {
	var flags storeFlags
	cmd := &cobra.Command{
		Use:     "cat STORE PATH…",
		Short:   "Print the exact bytes of files",
		Example: "  goliathfs cat badger:./store /docs/guide.md",
		GroupID: groupLook,
		Args:    takes(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				return eachPath(cmd, s, args[1:], func(path string) error {
					f, err := vfs.Read(cmd.Context(), s.Backend, path)
					if err != nil {
						return noFile(cmd.Context(), s, err)
					}
					if _, err := io.WriteString(cmd.OutOrStdout(), f.Content); err != nil {
						return outputError{err}
					}
					return nil
				})
			})
		},
	}
	flags.register(cmd)
	return cmd
}
