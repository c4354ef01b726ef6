package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/check"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

type checkOptions struct {
	storeFlags
	repair bool
	asJSON bool
	mended []sqlitefs.Problem // by opening the database for the repair
}

func newCheck() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check STORE",
		Short: "Read everything and name what is wrong",
		Long: `Read every file of a store, of a Badger or SQLite database those of all namespaces
and everything else in it, and name what is wrong and what --repair would do. The exit status is 1 when
something is wrong and was not repaired, or a repair lost a file or may have.

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
		switch spec.URL.Scheme {
		case storeurl.Badger:
			repair := badgerRepair{spec: spec, dir: filepath.Clean(spec.URL.Target), r: r}
			return repair.run(cmd.Context())
		case storeurl.SQLite:
			var err error
			if o.mended, err = missingIndex(cmd.Context(), spec); err != nil {
				return err
			}
		default:
			return usagef("%s cannot be repaired, badger: and sqlite: can", spec.URL)
		}
	}
	intent := storeurl.Look
	if o.repair {
		intent = storeurl.Change
	}
	return withOpener(func(opener *storeurl.Opener) error {
		s, err := opener.Open(cmd.Context(), spec, intent)
		if err != nil {
			return err
		}
		for _, p := range opener.Problems() {
			r.add(found{Path: p.Path, Problem: p.Reason})
		}
		for _, part := range s.Parts {
			if err := o.part(cmd.Context(), part, r); err != nil {
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
		f := found{Path: file.Path, Problem: "no path reaches it: " + file.Reason}
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
// namespace, and it only once.
func (o *checkOptions) part(ctx context.Context, part storeurl.Part, r *checkReport) error {
	r.named = map[placed]bool{}
	switch db := part.Backend.(type) {
	case *badgerfs.FS:
		if r.again(part.URL) {
			return nil
		}
		if err := checkBadger(ctx, db, part.URL, r); err != nil {
			return err
		}
	case *sqlitefs.FS:
		if r.again(part.URL) {
			return nil
		}
		if err := o.sqlite(ctx, db, part.URL, r); err != nil {
			return err
		}
	}
	return part.EachNamespace(ctx, func(name string, files vfs.Backend) error {
		sum, err := check.Store(ctx, files, func(p check.Problem) {
			if !r.named[placed{name, p.Path}] { // else the database has said more about it
				r.add(found{Store: part.URL.String(), Namespace: name, Path: p.Path, Problem: p.Text})
			}
		})
		r.files += sum.Files
		r.bytes += sum.Bytes
		return err
	})
}

func checkBadger(ctx context.Context, db *badgerfs.FS, u storeurl.URL, r *checkReport) error {
	_, err := db.Check(ctx, func(p badgerfs.Problem) {
		r.add(badgerFound(u, p))
	})
	return err
}

// missingIndex returns the problem that opening a database for writing mends, as
// mended; without a look before that, a repair could not tell of it.
func missingIndex(ctx context.Context, spec storeurl.Spec) (mended []sqlitefs.Problem, err error) {
	err = withOpener(func(opener *storeurl.Opener) error {
		s, err := opener.Open(ctx, storeurl.Spec{URL: spec.URL}, storeurl.Look)
		if err != nil {
			return err
		}
		problems, err := s.Base.(*sqlitefs.FS).Check(ctx, nil)
		for _, p := range problems {
			if aboutIndex(p) {
				p.Repaired = true
				mended = append(mended, p)
			}
		}
		return err
	})
	return mended, err
}

func aboutIndex(p sqlitefs.Problem) bool { return p.Rule == sqlitefs.RuleIndex }

func (o *checkOptions) sqlite(ctx context.Context, db *sqlitefs.FS, u storeurl.URL, r *checkReport) error {
	aside := &asideFile{base: u.Target + ".replaced-", ext: ".jsonl"}
	problems, err := db.Check(ctx, &sqlitefs.CheckOptions{Repair: o.repair, Aside: aside})
	if err == nil && !slices.ContainsFunc(problems, aboutIndex) {
		problems = append(o.mended, problems...)
	}
	for _, p := range problems {
		r.add(found{Store: u.String(), Namespace: p.Namespace, Path: p.Path, Rule: string(p.Rule), Problem: p.Detail, Repair: p.Repair, Repaired: p.Repaired})
	}
	if aside.f != nil {
		r.aside = aside.f.Name()
	}
	return errors.Join(err, aside.close())
}
