package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

func newCat() *cobra.Command {
	var flags storeFlags
	cmd := &cobra.Command{
		Use:        "cat STORE PATH…",
		SuggestFor: []string{"read", "show", "print"},
		Short:      "Print the exact bytes of files",
		Long: `Print the exact bytes of each PATH. FILE@MOMENT:/path is a file as it was in the
journal FILE, at a time or when it had a revision (see goliathfs log).`,
		Example: "  goliathfs cat badger:./store /docs/guide.md\n  goliathfs cat agent.journal@2026-11-30T12:00:/docs/guide.md",
		GroupID: groupLook,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, _, ok := storeurl.ParsePast(args[0]); ok {
					return nil
				}
				if name, rest, past := strings.Cut(args[0], "@"); past && strings.Contains(rest, ":/") {
					return usagef("there is no journal %s, name a file that goliathfs journal wrote, in front of @MOMENT:/path", name)
				}
			}
			return takes(2, -1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				u, path, _ := storeurl.ParsePast(args[0])
				args = []string{u.String(), path}
			}
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
