package main

import (
	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

func newNamespaces() *cobra.Command {
	flags := storeFlags{whole: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "namespaces STORE",
		Short:   "List the namespaces of a database",
		Long:    "List the namespaces under which a Badger or SQLite database holds files.",
		Example: "  goliathfs namespaces sqlite:./agent-files.db",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				db, err := databaseOf(s)
				if err != nil {
					return err
				}
				names, err := db.Namespaces(cmd.Context())
				if err != nil {
					return err
				}
				if len(names) == 0 {
					return tellEmpty(cmd, s, "no namespace holds files in")
				}
				out := newOutput(cmd)
				for _, name := range names {
					if asJSON {
						out.JSON(struct {
							Namespace string `json:"namespace"`
						}{name})
					} else {
						out.Printf("%s\n", printable(name))
					}
				}
				return out.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// databaseOf returns the database that a store is of, without its routes.
func databaseOf(s *storeurl.Store) (database.Database, error) {
	db, ok := s.Base.(database.Database)
	if !ok {
		return nil, usagef("%s has no namespaces, badger: and sqlite: have", s.Spec.URL)
	}
	return db, nil
}
