package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/fusebridge"
)

func newUnmount() *cobra.Command {
	var all, verbose bool
	cmd := &cobra.Command{
		Use:   "unmount DIR…",
		Short: "Unmount stores, also dead mounts",
		Long: `Unmount the store at each DIR. A mount that is in use is detached after two
seconds and its users are named; one whose server was killed is taken away.`,
		Example: "  goliathfs unmount /mnt/agent\n  goliathfs unmount --all",
		GroupID: groupMount,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usagef("--all unmounts everything, leave out %q", args[0])
			case all:
				return nil
			}
			return takes(1, -1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if all {
				mounts, err := fusebridge.List()
				if err != nil {
					return err
				}
				for _, m := range mounts {
					dirs = append(dirs, m.Dir)
				}
			}
			failed := false
			for i := range dirs {
				dir := dirs[len(dirs)-1-i] // what was mounted last may lie inside another
				err := fusebridge.Unmount(cmd.Context(), dir, &fusebridge.Options{Logger: newLogger(cmd.ErrOrStderr(), verbose)})
				if err != nil {
					failed = true
					fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", cmd.CommandPath(), err)
					continue
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "unmounted %s\n", dir); err != nil {
					return err
				}
			}
			if failed {
				return errReported
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "unmount every store of this machine that this user can")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log what happens in detail")
	return cmd
}
