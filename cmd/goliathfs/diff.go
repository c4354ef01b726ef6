package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/leftout"
)

type diffOptions struct {
	storeFlags
	filter       filterFlags
	colour       colourFlag
	tool         string
	stat, asJSON bool
	ignore       []string // paths that cannot be compared
}

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two stores or folders, file by file",
		Long: `Compare the contents of two stores. Differences are printed as a unified diff, and
the exit status is 1 when there are some. golden:FILE stands for the files that the
golden of a scenario shows, with ?conversation=ID those of one conversation. The
routes of --route belong to A.

` + filterHelp + `

--tool CMD runs a program of yours for each file that differs, a command of the shell
that gets the names of two files behind it; what it prints is its own.`,
		Example: "  goliathfs diff badger:./store dir:./docs\n  goliathfs diff --stat sqlite:./before.db sqlite:./after.db\n  goliathfs diff golden:golden/garden/day.txtar badger:./store\n  goliathfs diff --exclude '*.log' --tool vimdiff badger:./store dir:./docs",
		GroupID: groupLook,
		Args:    takes(2, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	o.register(cmd)
	o.filter.register(cmd)
	o.colour.register(cmd)
	cmd.Flags().StringVar(&o.tool, "tool", "", "show each difference with a `command` such as vimdiff")
	cmd.Flags().BoolVar(&o.stat, "stat", false, "print one line a file instead of the contents")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object for each file that differs")
	return cmd
}

func (o *diffOptions) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("tool") && strings.TrimSpace(o.tool) == "":
		return usagef("--tool is blank, give it a command such as vimdiff")
	case o.tool != "" && (o.stat || o.asJSON):
		return usagef("--tool shows contents, and --stat and --json do not: leave one of them out")
	case o.stat && o.asJSON:
		return usagef("--stat and --json are two forms, leave one out (--json counts the lines too)")
	}
	return o.colour.check()
}

func (o *diffOptions) run(cmd *cobra.Command, rawA, rawB string) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	a, err := newDiffSide(&o.storeFlags, rawA)
	if err != nil {
		return err
	}
	b, err := newDiffSide(&storeFlags{}, rawB)
	if err != nil {
		return err
	}
	if err := o.filter.check(a.spec, b.spec); err != nil {
		return err
	}
	return withOpener(func(opener *storeurl.Opener) error {
		for _, side := range []*diffSide{a, b} {
			other := b
			if side == b {
				other = a
			}
			if err := side.open(cmd.Context(), opener, other.spec); err != nil {
				return err
			}
			o.filter.heed(side.dir, true)
			for _, p := range side.seeded {
				o.ignore = append(o.ignore, p.Path)
				fmt.Fprintf(cmd.ErrOrStderr(), "not compared: %v\n", p)
			}
		}
		if err := tellNamespaces(cmd, a.store, b.store); err != nil {
			return err
		}
		if err := tellIgnored(cmd, a.dir, b.dir); err != nil {
			return err
		}
		problems, err := problemsOf(cmd.Context(), opener, a.side, b.side)
		if err != nil {
			return err
		}
		return explain(o.compare(cmd, a.side, b.side, problems), "the store")
	})
}

// diffSide is a store, a folder or a golden.
type diffSide struct {
	side
	golden string // the argument, if it is a golden
	spec   storeurl.Spec
	seeded []leftout.Entry // what a golden does not repeat
}

func newDiffSide(flags *storeFlags, raw string) (*diffSide, error) {
	if strings.HasPrefix(raw, goldenScheme) {
		return &diffSide{golden: raw}, nil
	}
	spec, err := flags.spec(raw)
	return &diffSide{spec: spec}, err
}

func (d *diffSide) open(ctx context.Context, opener *storeurl.Opener, other storeurl.Spec) (err error) {
	if d.golden != "" {
		d.Backend, d.seeded, err = openGolden(d.golden)
		return err
	}
	d.side, err = openSide(ctx, opener, d.spec, other, storeurl.Want{})
	return err
}

func (o *diffOptions) compare(cmd *cobra.Command, a, b side, problems []leftout.Entry) error {
	colour := o.colour.wanted(cmd) && !o.stat && !o.asJSON
	out, found := diffOutput(cmd, colour), map[transfer.Kind]int{}
	defer out.Flush()
	unread := func(path, reason string) {
		found[transfer.Unread]++
		fmt.Fprintf(cmd.ErrOrStderr(), "not compared: %s: %s\n", printable(path), reason)
	}
	skip := o.filter.skip(cmd.Context(), a.dir, b.dir)
	for _, p := range problems {
		if skip(p.Path) {
			continue
		}
		unread(p.Path, p.Err.Error())
		o.ignore = append(o.ignore, p.Path)
	}
	err := transfer.Diff(cmd.Context(), a.Backend, b.Backend, skip, func(c transfer.Change) error {
		if slices.Contains(o.ignore, c.Path) {
			return nil
		}
		if c.Kind == transfer.Unread {
			unread(c.Path, c.Reason)
			return nil
		}
		found[c.Kind]++
		switch {
		case c.Kind == transfer.Same:
		case o.tool != "":
			return (&diffTool{cmd, o.tool}).show(c)
		default:
			o.print(out, c, colour)
		}
		return out.Err()
	})
	if err != nil {
		return err
	}
	if o.stat {
		out.Printf("%d differ, %d only in A, %d only in B, %d the same\n",
			found[transfer.Changed], found[transfer.OnlyA], found[transfer.OnlyB], found[transfer.Same])
	}
	if err := out.Flush(); err != nil {
		return err
	}
	o.filter.tellUnmatched(cmd)
	delete(found, transfer.Same)
	if len(found) > 0 {
		return errReported
	}
	return nil
}

// differing is what diff prints as JSON of a file.
type differing struct {
	Path    string        `json:"path"`
	Kind    transfer.Kind `json:"kind"`
	SizeA   int           `json:"sizeA"`
	SizeB   int           `json:"sizeB"`
	Added   int           `json:"added"` // lines
	Removed int           `json:"removed"`
}

func (o *diffOptions) print(out *output, c transfer.Change, colour bool) {
	if !o.stat && !o.asJSON {
		if c.A == "" && c.B == "" { // an empty file that one side lacks: no line differs
			path := c.Path
			if colour {
				path = visible.Text(path)
			}
			out.Printf("%s %s\n", c.Kind, path)
			return
		}
		printUnified(out, c, colour)
		return
	}
	added, removed := c.Lines()
	if o.asJSON {
		out.JSON(differing{c.Path, c.Kind, len(c.A), len(c.B), added, removed})
		return
	}
	out.Printf("%-7s  +%d -%d  %s\n", c.Kind, added, removed, c.Path)
}
