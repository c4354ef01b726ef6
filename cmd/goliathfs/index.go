package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
)

func newIndex() *cobra.Command {
	flags := storeFlags{}
	cmd := &cobra.Command{
		Use:   "index STORE",
		Short: "Make the index of searches ahead of the first one",
		Long: `Make the index of searches of a Badger store ahead of the first one, for the namespace
of STORE. Without this verb the first search of 3 MB or more makes it in the
background. It is kept beside the files, follows every change, and can be removed
or made anew at any time: searches find the same with it and without.

Other stores keep none on disk of this machine: memory and SQLite databases make one in
memory when a search needs it, and a PostgreSQL database has one in its tables, which
searches have made in the background.`,
		Example: "  goliathfs index badger:./store",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{Write: true}, func(s *storeurl.Store) error {
				db, ok := s.Base.(database.Indexer)
				switch {
				case s.Spec.URL.Scheme == storeurl.Postgres:
					return usagef("%s has its index in its tables, searches have it made in the background; there is nothing to do ahead", s.Spec.URL)
				case !ok:
					return usagef("%s keeps no index of searches on disk, badger: stores do", s.Spec.URL)
				}
				return makeIndex(cmd, s.Spec.URL.String(), db)
			})
		},
	}
	return cmd
}

// makeIndex makes an index, shows how far it is, and tells what became of it.
func makeIndex(cmd *cobra.Command, name string, db database.Indexer) error {
	p := startProgress(cmd.ErrOrStderr())
	err := db.Index(cmd.Context(), func(g gramindex.Progress) {
		p.counts.Files.Store(int64(g.Files))
		p.counts.Bytes.Store(g.Bytes)
	})
	p.stop()
	if err != nil {
		return err
	}
	st, err := db.IndexStatus(cmd.Context())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: the index of %d files, %d bytes of text, has %d bytes\n",
		name, st.Files, p.counts.Bytes.Load(), st.Bytes)
	return err
}
