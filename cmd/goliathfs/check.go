package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/check"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/routefs"
)

type checkOptions struct {
	storeFlags
	repair bool
	asJSON bool
}

func newCheck() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check STORE",
		Short: "Read everything and name what is wrong",
		Long: `Read every file of a store, of a database those of all namespaces and everything
else in it, and name what is wrong and what --repair would do. The
exit status is 1 when something is wrong and was not repaired, or a repair lost a
file or may have.

--repair keeps what it replaces: for SQLite the rows, in a file of JSON lines
beside the database; for Badger the whole directory, in a copy beside it.`,
		Example: "  goliathfs check badger:./store\n  goliathfs check --repair sqlite:./agent-files.db",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := o.spec(args[0])
			if err != nil {
				return err
			}
			r := &checkReport{out: newOutput(cmd), asJSON: o.asJSON}
			err = o.run(cmd, spec, r)
			if flushErr := r.out.Flush(); err == nil {
				err = flushErr
			}
			return err
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.repair, "repair", false, "mend what can be mended")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object for each problem")
	return cmd
}

func (o *checkOptions) run(cmd *cobra.Command, spec storeurl.Spec, r *checkReport) error {
	if o.repair {
		if len(spec.Routes) > 0 {
			return usagef("--repair mends one store at a time, leave out --route")
		}
		r.database(spec.URL)
		done, err := storeurl.Repair(cmd.Context(), spec.URL, func(p database.Problem) { r.add(found{spec.URL.String(), p}) })
		if err != nil {
			return explain(err, spec.URL.String())
		}
		r.quarantine, r.unsure = done.Quarantine, done.Unsure
	}
	return withOpener(func(opener *storeurl.Opener) error {
		s, err := opener.Open(cmd.Context(), spec, storeurl.Want{})
		if err != nil {
			return err
		}
		for _, p := range opener.LeftOut() {
			r.add(found{"", database.Problem{Path: p.Path, Text: p.Err.Error()}})
		}
		for _, part := range s.Parts {
			if err := r.part(cmd.Context(), part, o.repair); err != nil {
				return explain(err, part.URL.String())
			}
		}
		if err := unreachable(cmd.Context(), s, r); err != nil {
			return err
		}
		return r.finish()
	})
}

// unreachable reports the files that the routes hide.
func unreachable(ctx context.Context, s *storeurl.Store, r *checkReport) error {
	composite, ok := s.Backend.(*routefs.FS)
	if !ok {
		return nil
	}
	r.named = nil
	for file, err := range composite.Unreachable(ctx) {
		if err != nil {
			return err
		}
		f := found{"", database.Problem{Path: file.Path, Text: "no path reaches it: " + file.Err.Error()}}
		for _, part := range s.Parts {
			if part.Prefix == file.Route {
				f.Store = part.URL.String()
			}
		}
		r.add(f)
	}
	return nil
}

// part checks one of the stores that make up the whole: of a database every
// namespace, and it only once. One that was just repaired has told of itself.
func (r *checkReport) part(ctx context.Context, part storeurl.Part, repaired bool) error {
	if db, ok := part.Database(); ok && !repaired {
		if !r.database(part.URL) {
			return nil
		}
		if err := db.Check(ctx, func(p database.Problem) { r.add(found{part.URL.String(), p}) }); err != nil {
			return err
		}
	} else if !ok {
		r.named = map[filePath]bool{}
	}
	if past, ok := part.Backend.(storeurl.Past); ok {
		// What it finds in a content that is shown at this moment is found there again.
		sum, err := past.Check(ctx, func(err error) {
			r.add(found{part.URL.String(), database.Problem{File: part.URL.Target, Text: err.Error()}})
		})
		r.journals = true
		r.entries += sum.Entries
		r.bytes += sum.Bytes
		return err
	}
	r.stores = true
	return part.EachNamespace(ctx, func(name string, files vfs.Backend) error {
		sum, err := check.Store(ctx, files, func(p leftout.Entry) {
			if !r.named[filePath{name, p.Path}] { // else the database has said more about it
				r.add(found{part.URL.String(), database.Problem{Namespace: name, Path: p.Path, Text: p.Err.Error()}})
			}
		})
		r.files += sum.Files
		r.bytes += sum.Bytes
		return err
	})
}
