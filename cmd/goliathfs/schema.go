package main

import (
	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

func newSchema() *cobra.Command {
	var flags storeFlags
	cmd := &cobra.Command{
		Use:   "schema STORE",
		Short: "Print the SQL that makes the tables of a PostgreSQL store",
		Long: `Print the SQL that makes the tables of a PostgreSQL store, for someone with more
rights than the program that uses them. It asks no server, and can be run again.`,
		Example: "  goliathfs schema postgres://db/agents | psql postgres://admin@db/agents",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := flags.spec(args[0])
			if err != nil {
				return err
			}
			if spec.URL.Scheme != storeurl.Postgres {
				return usagef("%s makes what it needs by itself, postgres:// alone has tables that someone else may have to make", spec.URL)
			}
			out := newOutput(cmd)
			out.Printf("%s", database.PostgresSchema())
			return out.Flush()
		},
	}
	return cmd
}
