package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

type copyOptions struct {
	storeFlags
	filter    filterFlags
	transfer  transfer.Options
	namespace string
	durable   bool
	repos     bool
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
error, the rest goes on, and the exit status is 1. The same goes for files that
SRC holds and cannot show, such as rows that break the rules of a SQLite table;
--delete spares their counterparts. What was written is read back and compared. A
store in a database or a folder that does not exist is made.

The routes of --route belong to SRC. Writes are on disk when the copy ends;
--durable makes each of them wait for the disk.

` + filterHelp + ` --delete removes
nothing that is left out.`,
		Example: "  goliathfs copy dir:./docs badger:./store\n  goliathfs copy sqlite:./agent-files.db dir:./files\n  goliathfs copy --dry-run --delete dir:./docs badger:./store",
		GroupID: groupWrite,
		Args:    takes(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	o.register(cmd)
	o.filter.register(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.transfer.DryRun, "dry-run", "n", false, "say what would be done and change nothing")
	f.BoolVar(&o.transfer.Delete, "delete", false, "remove from DST what SRC does not have")
	f.BoolVar(&o.transfer.AllowEmpty, "allow-empty", false, "let --delete remove everything when SRC has no files")
	f.BoolVar(&o.transfer.IfNewer, "if-newer", false, "replace a file only if that of SRC was modified later")
	f.BoolVar(&o.transfer.NoVerify, "no-verify", false, "do not read back what was written")
	f.StringVar(&o.namespace, "namespace", "", "the `namespace` on both sides, where a URL names none")
	f.BoolVar(&o.durable, "durable", false, "wait for the disk at every write")
	f.BoolVar(&o.repos, "repositories", false, "write .git, .hg and HEAD too, whose settings git and hg run")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print each file that is written or removed")
	f.BoolVar(&o.asJSON, "json", false, "print the summary as a JSON object")
	return cmd
}

func (o *copyOptions) run(cmd *cobra.Command, from, to string) error {
	src, dst, err := o.ends(cmd, from, to)
	if err != nil {
		return err
	}
	return withOpener(func(opener *storeurl.Opener) error {
		s, d, err := o.openBoth(cmd.Context(), opener, src, dst, o.want())
		if err != nil {
			return err
		}
		if writable, err := o.writable(cmd.Context(), dst, d.Backend); err != nil {
			return err
		} else if !writable {
			return fmt.Errorf("the destination %s is read-only, name a store that can be written", dst.URL)
		}
		if o.repos && d.dir != nil {
			d.dir.AllowRepositories()
		}
		o.filter.heed(s.dir, true)
		if o.transfer.Delete {
			o.filter.heed(d.dir, false)
		}
		if err := tellIgnored(cmd, s.dir, d.dir); err != nil {
			return err
		}
		problems, err := problemsOf(cmd.Context(), opener, s)
		if err == nil && s.store != nil {
			err = tellNamespaces(cmd, s.store)
		}
		if err != nil {
			return err
		}
		err = o.copy(cmd, s, d, problems)
		if !o.transfer.DryRun {
			tellGone(cmd, dst, "/")
		}
		return err
	})
}

// ends says what is to be copied into what, or refuses it.
func (o *copyOptions) ends(cmd *cobra.Command, from, to string) (src, dst storeurl.Spec, err error) {
	if src, err = o.spec(from); err != nil {
		return src, dst, err
	}
	if dst, err = new(storeFlags).spec(to); err != nil {
		return src, dst, err
	}
	if cmd.Flags().Changed("namespace") && strings.TrimSpace(o.namespace) == "" {
		return src, dst, usagef("--namespace is blank, give it a value or leave it out")
	}
	if o.namespace != "" {
		if err := setNamespace(o.namespace, &src.URL, &dst.URL); err != nil {
			return src, dst, err
		}
	}
	if err := o.filter.check(src, dst); err != nil {
		return src, dst, err
	}
	if err := src.Clash(dst); err != nil {
		return src, dst, usagef("%w", err)
	}
	return src, dst, nil
}

// want is how the destination is to be opened.
func (o *copyOptions) want() storeurl.Want {
	if o.transfer.DryRun {
		return storeurl.Want{}
	}
	return storeurl.Want{Write: true, Create: true, Relaxed: !o.durable}
}

// openBoth opens the source first, so that a wrong one does not leave a new
// destination behind; where both are in one Badger database, which can be open
// once, it must be opened for writing.
func (o *copyOptions) openBoth(ctx context.Context, opener *storeurl.Opener, src, dst storeurl.Spec, want storeurl.Want) (s, d side, err error) {
	look := storeurl.Want{}
	if src.Shares(dst, storeurl.SQLite) && !o.transfer.DryRun {
		look = storeurl.Want{Long: true}
	}
	openSrc := func() error {
		s, err = openSide(ctx, opener, src, dst, look)
		return err
	}
	openDst := func() error {
		d, err = openSide(ctx, opener, dst, src, want)
		if o.transfer.DryRun && errors.Is(err, fs.ErrNotExist) {
			d.Backend, err = memfs.New(nil, nil) // stands for what would be made
		}
		return err
	}
	order := []func() error{openSrc, openDst}
	if src.Shares(dst, storeurl.Badger) {
		slices.Reverse(order)
	}
	for _, open := range order {
		if err := open(); err != nil {
			return side{}, side{}, err
		}
	}
	return s, d, nil
}

// writable reports whether anything can be copied into dst, so that this is told
// once and not of every file.
func (o *copyOptions) writable(ctx context.Context, dst storeurl.Spec, d vfs.Backend) (bool, error) {
	if o.transfer.DryRun { // opened for looking only
		return dst.Writable("/"), nil
	}
	route, err := vfs.RouteOf(ctx, d, "/")
	return route.Writable, err
}

// setNamespace gives the namespace to the URLs that can have one and do not.
func setNamespace(name string, urls ...*storeurl.URL) error {
	used := false
	for _, u := range urls {
		if u.HasNamespaces() {
			used = true
			if u.Namespace == "" && !u.All {
				u.Namespace = name
			}
		}
	}
	if !used {
		return usagef("--namespace is for stores that have some, %s, and neither side is one", storeurl.WithNamespaces())
	}
	return nil
}

// shortReason is the length, in bytes, up to which a reason is repeated for each file.
const shortReason = 80

// copied is what copy prints as JSON.
type copied struct {
	transfer.Result
	DryRun   bool            `json:"dryRun,omitempty"`
	Failures []transfer.Step `json:"failures"`
}

func (o *copyOptions) copy(cmd *cobra.Command, src, dst side, problems []leftout.Entry) error {
	progress := startProgress(cmd.ErrOrStderr())
	out, sum := newOutput(cmd), copied{DryRun: o.transfer.DryRun, Failures: []transfer.Step{}}
	fail := func(s transfer.Step) {
		if errors.Is(s.Err, hostdir.ErrRepository) {
			s.Reason += "; --repositories writes it"
		}
		if n := len(sum.Failures); n > 0 && sum.Failures[n-1].Reason == s.Reason && len(s.Reason) > shortReason {
			progress.line("not copied: %s, for the same reason", printable(s.Path))
		} else {
			progress.line("not copied: %s: %s", printable(s.Path), s.Reason)
		}
		sum.Failures = append(sum.Failures, s)
	}
	opts := o.transfer
	opts.Skip = o.filter.skip(cmd.Context(), src.dir)
	opts.Spare = func(path string) bool { return ignoredBy(cmd.Context(), path, dst.dir) }
	for _, p := range problems {
		if opts.Skip(p.Path) {
			continue
		}
		fail(transfer.Step{Action: transfer.Fail, Path: p.Path, Reason: p.Err.Error()})
		if p.Path == "/" {
			continue // what no path can name has no counterpart
		}
		opts.Keep = append(opts.Keep, p.Path)
		if clean, err := vpath.Clean(p.Path); err == nil {
			opts.Keep = append(opts.Keep, clean) // what a repair has named so
		}
	}
	opts.Progress = &progress.counts
	progress.total(cmd.Context(), func(ctx context.Context) error {
		return transfer.Count(ctx, src.Backend, opts.Skip, &progress.counts)
	})
	opts.Report = func(s transfer.Step) {
		switch {
		case s.Action == transfer.Fail:
			fail(s)
		case !o.asJSON && (o.verbose || opts.DryRun):
			out.Printf("%s %s\n", s.Action, s.Path)
		}
	}
	var err error
	sum.Result, err = transfer.Copy(cmd.Context(), src.Backend, dst.Backend, opts)
	progress.stop()
	sum.Failed = int64(len(sum.Failures))
	if o.asJSON {
		out.JSON(sum)
	} else {
		sum.print(out)
	}
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	if err == nil {
		o.filter.tellUnmatched(cmd)
	}
	return sum.outcome(err)
}

// outcome is how a copy ended.
func (c copied) outcome(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return &interruptedError{"interrupted, run it again to continue"}
	case errors.Is(err, transfer.ErrEmptySource):
		return fmt.Errorf("%w, nothing was changed: check the name, or pass --allow-empty if that is meant", err)
	case err == nil && c.Failed > 0:
		err = errReported
	}
	return explain(err, "the store")
}

func (c copied) print(out *output) {
	verb, removed := "copied", "removed"
	if c.DryRun {
		verb, removed = "would copy", "remove"
	}
	out.Printf("%s %s", verb, count(int(c.Created+c.Replaced), "file", "files"))
	if !c.DryRun {
		out.Printf(" (%s)", count(int(c.Bytes), "byte", "bytes"))
	}
	if c.Deleted > 0 {
		out.Printf(", %s %d", removed, c.Deleted)
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
