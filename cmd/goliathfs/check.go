package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/check"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
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
		Long: `Read every file of a store, and everything else in a Badger or SQLite database, and
name what is wrong and what --repair would do about it. The exit status is 1 when
something is wrong and was not repaired.

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
		return r.finish()
	})
}

// part checks one of the stores that make up the whole.
func (o *checkOptions) part(ctx context.Context, part storeurl.Part, r *checkReport) error {
	r.named = map[string]bool{}
	switch db := part.Backend.(type) {
	case *badgerfs.FS:
		if err := checkBadger(ctx, db, part.URL, r); err != nil {
			return err
		}
	case *sqlitefs.FS:
		if err := o.sqlite(ctx, db, part.URL, r); err != nil {
			return err
		}
	}
	sum, err := check.Store(ctx, part.Backend, part.Prefix, func(p check.Problem) {
		if !r.named[p.Path] { // else the database has said more about it
			r.add(found{Store: part.URL.String(), Path: p.Path, Problem: p.Text})
		}
	})
	r.files += sum.Files
	r.bytes += sum.Bytes
	return err
}

func checkBadger(ctx context.Context, db *badgerfs.FS, u storeurl.URL, r *checkReport) error {
	_, err := db.Check(ctx, func(p badgerfs.Problem) {
		r.add(badgerFound(u, p))
	})
	return err
}

func (o *checkOptions) sqlite(ctx context.Context, db *sqlitefs.FS, u storeurl.URL, r *checkReport) error {
	aside := &asideFile{name: fmt.Sprintf("%s.replaced-%s.jsonl", u.Target, time.Now().UTC().Format("20060102T150405Z"))}
	problems, err := db.Check(ctx, &sqlitefs.CheckOptions{Repair: o.repair, Aside: aside})
	for _, p := range problems {
		r.add(found{Store: u.String(), Namespace: p.Namespace, Path: p.Path, Rule: string(p.Rule), Problem: p.Detail, Repair: p.Repair, Repaired: p.Repaired})
	}
	if aside.f != nil {
		r.aside = aside.name
	}
	return errors.Join(err, aside.close())
}

// asideFile is a file that is made when something is written to it.
type asideFile struct {
	name string
	f    *os.File
}

// Write appends to the file and waits for the disk, for what is written is
// replaced next.
func (a *asideFile) Write(data []byte) (int, error) {
	if a.f == nil {
		f, err := os.OpenFile(a.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return 0, fmt.Errorf("cannot keep what is replaced: %w", err)
		}
		a.f = f
	}
	n, err := a.f.Write(data)
	return n, errors.Join(err, a.f.Sync())
}

func (a *asideFile) close() error {
	if a.f == nil {
		return nil
	}
	return a.f.Close()
}
