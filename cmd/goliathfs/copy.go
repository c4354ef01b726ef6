package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

type copyOptions struct {
	storeFlags
	transfer  transfer.Options
	namespace string
	durable   bool
	asJSON    bool
	verbose   bool
}

func newCopy() *cobra.Command {
	var o copyOptions
	cmd := &cobra.Command{
		Use:   "copy SRC DST",
		Short: "Copy all files of a store, or of a folder, into another",
		Long: `Copy every file of SRC into DST. A file that is the same already is left alone,
so a copy that was cut short continues when it is run again, and a second run
changes nothing. What cannot be stored is named with the reason on standard
error, the rest goes on, and the exit status is 1. What was written is read back
and compared. A Badger or SQLite store or a folder that does not exist is made.

The routes of --route belong to SRC. Writes are on disk when the copy ends;
--durable makes each of them wait for the disk.`,
		Example: "  goliathfs copy dir:./docs badger:./store\n  goliathfs copy sqlite:./agent-files.db dir:./files\n  goliathfs copy --dry-run --delete dir:./docs badger:./store",
		GroupID: groupWrite,
		Args:    takes(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.transfer.DryRun, "dry-run", "n", false, "say what would be done and change nothing")
	f.BoolVar(&o.transfer.Delete, "delete", false, "remove from DST what SRC does not have")
	f.BoolVar(&o.transfer.IfNewer, "if-newer", false, "replace a file only if that of SRC was modified later")
	f.BoolVar(&o.transfer.NoVerify, "no-verify", false, "do not read back what was written")
	f.StringVar(&o.namespace, "namespace", "", "the `namespace` on both sides, where a URL names none")
	f.BoolVar(&o.durable, "durable", false, "wait for the disk at every write")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print each file that is written or removed")
	f.BoolVar(&o.asJSON, "json", false, "print the summary as a JSON object")
	return cmd
}

func (o *copyOptions) run(cmd *cobra.Command, from, to string) error {
	src, err := o.spec(from)
	if err != nil {
		return err
	}
	dst, err := new(storeFlags).spec(to)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("namespace") && o.namespace == "" {
		return usagef("--namespace is blank, give it a value or leave it out")
	}
	if o.namespace != "" {
		if err := setNamespace(o.namespace, &src.URL, &dst.URL); err != nil {
			return err
		}
	}
	if src.URL == dst.URL && len(src.Routes) == 0 && src.URL.Scheme != storeurl.Mem {
		return usagef("source and destination are the same store, name another one")
	}
	return withOpener(func(opener *storeurl.Opener) error {
		intent := storeurl.Bulk
		switch {
		case o.transfer.DryRun:
			intent = storeurl.Look
		case o.durable:
			intent = storeurl.Create
		}
		s, d, err := o.openBoth(cmd.Context(), opener, src, dst, intent)
		if err != nil {
			return err
		}
		if !o.writable(dst, d) {
			return fmt.Errorf("the destination %s is read-only, name a store that can be written", dst.URL)
		}
		problems, err := problemsOf(cmd.Context(), opener, s)
		if err != nil {
			return err
		}
		return o.copy(cmd, s, d, problems)
	})
}

// openBoth opens the source first, so that a wrong one does not leave a new
// destination behind; where both are in one database, which can be open once, it
// must be opened for writing.
func (o *copyOptions) openBoth(ctx context.Context, opener *storeurl.Opener, src, dst storeurl.Spec, intent storeurl.Intent) (s, d vfs.Backend, err error) {
	openSrc := func() error {
		s, err = openSide(ctx, opener, src, storeurl.Look, dst.URL)
		return err
	}
	openDst := func() error {
		d, err = openSide(ctx, opener, dst, intent, src.URL)
		if o.transfer.DryRun && errors.Is(err, fs.ErrNotExist) {
			d, err = memfs.New(nil, nil) // stands for what would be made
		}
		return err
	}
	order := []func() error{openSrc, openDst}
	if src.Shares(dst) {
		slices.Reverse(order)
	}
	for _, open := range order {
		if err := open(); err != nil {
			return nil, nil, err
		}
	}
	return s, d, nil
}

// writable reports whether anything can be copied into dst, so that this is told
// once and not of every file.
func (o *copyOptions) writable(dst storeurl.Spec, d vfs.Backend) bool {
	if o.transfer.DryRun { // opened for looking only
		return dst.URL.Scheme != storeurl.Static && !dst.URL.ReadOnly
	}
	_, writable := vfs.RouteOf(d, "/")
	return writable
}

// setNamespace gives the namespace to the URLs that can have one and do not.
func setNamespace(name string, urls ...*storeurl.URL) error {
	used := false
	for _, u := range urls {
		if u.Scheme == storeurl.Badger || u.Scheme == storeurl.SQLite {
			used = true
			if u.Namespace == "" {
				u.Namespace = name
			}
		}
	}
	if !used {
		return usagef("--namespace is for badger: and sqlite:, and neither side is one")
	}
	return nil
}

// openSide opens a store or a host folder, which may hold the other side.
func openSide(ctx context.Context, opener *storeurl.Opener, spec storeurl.Spec, intent storeurl.Intent, other storeurl.URL) (vfs.Backend, error) {
	if spec.URL.Scheme == storeurl.Dir && len(spec.Routes) == 0 {
		return opener.OpenDir(spec.URL, intent, other)
	}
	s, err := opener.Open(ctx, spec, intent)
	if err != nil {
		return nil, err
	}
	return s.Backend, nil
}

// problemsOf returns what the stores and folders had to leave out.
func problemsOf(ctx context.Context, opener *storeurl.Opener, sides ...vfs.Backend) ([]storeurl.Problem, error) {
	problems := opener.Problems()
	for _, side := range sides {
		dir, ok := side.(*hostdir.Dir)
		if !ok {
			continue
		}
		found, err := dir.Problems(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			problems = append(problems, storeurl.Problem(p))
		}
	}
	return problems, nil
}

// copied is what copy prints as JSON.
type copied struct {
	transfer.Result
	DryRun   bool            `json:"dryRun,omitempty"`
	Failures []transfer.Step `json:"failures"`
}

func (o *copyOptions) copy(cmd *cobra.Command, src, dst vfs.Backend, problems []storeurl.Problem) error {
	progress := startProgress(cmd.ErrOrStderr())
	out, sum := newOutput(cmd), copied{DryRun: o.transfer.DryRun, Failures: []transfer.Step{}}
	fail := func(s transfer.Step) {
		sum.Failures = append(sum.Failures, s)
		progress.line("not copied: %s: %s", printable(s.Path), s.Reason)
	}
	opts := o.transfer
	for _, p := range problems {
		fail(transfer.Step{Action: transfer.Fail, Path: p.Path, Reason: p.Reason})
		opts.Keep = append(opts.Keep, p.Path)
	}
	opts.Progress = &progress.counts
	opts.Report = func(s transfer.Step) {
		switch {
		case s.Action == transfer.Fail:
			fail(s)
		case !o.asJSON && (o.verbose || opts.DryRun):
			out.Printf("%s %s\n", s.Action, s.Path)
		}
	}
	result, err := transfer.Copy(cmd.Context(), src, dst, opts)
	progress.stop()
	sum.Result = result
	sum.Failed = int64(len(sum.Failures))
	if o.asJSON {
		out.JSON(sum)
	} else {
		sum.print(out)
	}
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted, run it again to continue")
	}
	if err == nil && sum.Failed > 0 {
		err = errReported
	}
	return explain(err, "the store")
}

func (c copied) print(out *output) {
	verb := "copied"
	if c.DryRun {
		verb = "would copy"
	}
	out.Printf("%s %s", verb, count(int(c.Created+c.Replaced), "file", "files"))
	if !c.DryRun {
		out.Printf(" (%s)", count(int(c.Bytes), "byte", "bytes"))
	}
	if c.Deleted > 0 {
		out.Printf(", removed %d", c.Deleted)
	}
	out.Printf(", %d unchanged", c.Unchanged)
	if c.NotNewer > 0 {
		out.Printf(", %d not newer", c.NotNewer)
	}
	if c.Failed > 0 {
		out.Printf(", %d not copied", c.Failed)
	}
	out.Printf("\n")
}
