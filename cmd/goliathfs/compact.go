package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

func newCompact() *cobra.Command {
	flags := storeFlags{whole: true}
	cmd := &cobra.Command{
		Use:   "compact STORE",
		Short: "Free the disk space of what was replaced or removed",
		Long: `Free the disk space that replaced and removed files take in a database, in all its
namespaces. In PostgreSQL it takes old changes out of the logs by which others hear
of changes, and makes the space in the tables free for new files (vacuum).`,
		Example: "  goliathfs compact badger:./store",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := compactible(cmd, &flags, args[0])
			if err != nil {
				return err
			}
			err = flags.withStore(cmd, args[0], storeurl.Want{Write: true}, func(s *storeurl.Store) error {
				db, ok := s.Base.(database.Database)
				if !ok {
					return usagef("%s has nothing to compact, %s have", s.Spec.URL, storeurl.Databases(" and "))
				}
				return db.Compact(cmd.Context())
			})
			if err != nil {
				return err
			}
			after, err := compactible(cmd, &flags, args[0])
			if err != nil {
				return err
			}
			if after >= before {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "there was nothing to free in %s, it takes %d bytes of the disk\n", args[0], after)
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s took %d bytes of the disk, now %d\n", args[0], before, after)
			return err
		},
	}
	return cmd
}

// compactible returns the bytes that a store takes on the disk while nothing is written
// to it, for while it is open for that it takes more.
func compactible(cmd *cobra.Command, flags *storeFlags, url string) (use int64, err error) {
	err = flags.withStore(cmd, url, storeurl.Want{}, func(s *storeurl.Store) error {
		use, err = diskUse(cmd.Context(), s)
		return err
	})
	return use, err
}

// diskUse returns the bytes that a store takes on the disk, -1 for one that is
// on none.
func diskUse(ctx context.Context, s *storeurl.Store) (int64, error) {
	if db, ok := s.Parts[0].Database(); ok {
		return db.DiskUse(ctx)
	}
	return -1, nil
}
