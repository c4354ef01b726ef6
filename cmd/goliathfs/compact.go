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
		Long: `Free the disk space that replaced and removed files take in a Badger or SQLite
database, in all its namespaces.`,
		Example: "  goliathfs compact badger:./store",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var before int64
			err := flags.withStore(cmd, args[0], storeurl.Want{Write: true}, func(s *storeurl.Store) error {
				db, ok := s.Base.(database.Database)
				if !ok {
					return usagef("%s has nothing to compact, badger: and sqlite: have", s.Spec.URL)
				}
				var err error
				if before, err = diskUse(cmd.Context(), s); err != nil {
					return err
				}
				return db.Compact(cmd.Context())
			})
			if err != nil {
				return err
			}
			// A store is smallest when it is closed, so look again.
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				after, err := diskUse(cmd.Context(), s)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s took %d bytes of the disk, now %d\n", s.Spec.URL, before, after)
				}
				return err
			})
		},
	}
	return cmd
}

// diskUse returns the bytes that a store takes on the disk, -1 for one that is
// on none.
func diskUse(ctx context.Context, s *storeurl.Store) (int64, error) {
	if db, ok := s.Parts[0].Database(); ok {
		return db.DiskUse(ctx)
	}
	return -1, nil
}
