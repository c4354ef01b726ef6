package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newNamespaces() *cobra.Command {
	flags := storeFlags{whole: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "namespaces STORE",
		Short:   "List the namespaces of a database",
		Long:    "List the namespaces under which a database holds files, with how many files each has\nand their bytes. A store URL that ends in ?namespace=* shows them all,\na directory each.",
		Example: "  goliathfs namespaces sqlite:./agent-files.db",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				spaces, err := spacesOf(s)
				if err != nil {
					return err
				}
				names, err := spaces.Namespaces(cmd.Context())
				if err == nil {
					err = tellNameless(cmd, s)
				}
				if err != nil {
					return err
				}
				if len(names) == 0 {
					return tellEmpty(cmd, s, "no namespace holds files in")
				}
				out := newOutput(cmd)
				err = s.Parts[0].EachNamespace(cmd.Context(), func(name string, files vfs.Backend) error {
					held := namespace{Namespace: name}
					for info, err := range walk.Files(cmd.Context(), files, "/") {
						if err != nil {
							return err
						}
						held.add(info)
					}
					return held.print(out, asJSON)
				})
				if flushErr := out.Flush(); err == nil {
					err = flushErr
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// tellNameless says on standard error how many files are in namespaces that are no names.
func tellNameless(cmd *cobra.Command, s *storeurl.Store) error {
	db, ok := s.Parts[0].Backend.(database.Database)
	if !ok {
		return nil
	}
	rows, err := database.OfNoName(cmd.Context(), db)
	if rows > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "not listed: %s in namespaces that are no names, blank or no text, see goliathfs check %s\n", count(rows, "file", "files"), s.Spec.URL)
	}
	return err
}

// spacesOf returns the namespaces of a store, without its routes.
func spacesOf(s *storeurl.Store) (database.Spaces, error) {
	spaces, ok := s.Parts[0].Spaces()
	if !ok {
		return nil, usagef("%s has no namespaces, as stores of %s have", s.Spec.URL, storeurl.WithNamespaces())
	}
	return spaces, nil
}

// namespace is what the verb prints as JSON of one.
type namespace struct {
	Namespace string `json:"namespace"`
	Files     int    `json:"files"`
	Bytes     *int64 `json:"bytes,omitempty"` // absent where the database cannot tell without reading
	unknown   bool
}

func (n *namespace) add(info vfs.Info) {
	n.Files++
	switch {
	case info.Size < 0:
		n.Bytes, n.unknown = nil, true
	case n.Bytes == nil && !n.unknown:
		n.Bytes = new(int64)
		fallthrough
	case !n.unknown:
		*n.Bytes += info.Size
	}
}

func (n *namespace) print(out *output, asJSON bool) error {
	if asJSON {
		return out.JSON(n)
	}
	held := count(n.Files, "file", "files")
	if n.Bytes != nil {
		held += ", " + count(int(*n.Bytes), "byte", "bytes")
	}
	out.Printf("%s  %s\n", printable(n.Namespace), held)
	return out.Err()
}
