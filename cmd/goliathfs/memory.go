package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

type memoryOptions struct {
	storeFlags
	dir        string
	theDefault bool
	asJSON     bool
	full       bool // each conversation in full
	// take gets what was found, in place of printing it.
	take func(found []remembered) error
}

func newMemory() *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   "memory STORE [ID]",
		Short: "List conversations that an agent remembers, or show one",
		Long: `List the conversation memories that a store keeps as files, or show that of the
conversation ID (--default for the one without an ID): its summary and its last
exchanges. A phone may keep them as the values of a table in its SQLite database
instead. They are found where key and value can be nothing else; "table", "key",
"value" and "prefix" behind the database's name say where they are.`,
		Example: "  goliathfs memory badger:./store\n  goliathfs memory badger:./store garden\n  goliathfs memory 'sqlite:app.db?table=conversations&key=id&value=memory&prefix=goliath:'",
		GroupID: groupLook,
		Args:    takes(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.registerAll(cmd)
	cmd.AddCommand(newMemoryShow(), newMemoryExport())
	return cmd
}

func (o *memoryOptions) registerAll(cmd *cobra.Command) {
	o.register(cmd)
	o.registerWhich(cmd)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON objects")
}

func (o *memoryOptions) registerWhich(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.dir, "dir", "", "the `directory` of the memories in the store, if not the usual one")
	cmd.Flags().BoolVar(&o.theDefault, "default", false, "show the one conversation that has no ID")
}

func (o *memoryOptions) run(cmd *cobra.Command, args []string) error {
	if o.theDefault && len(args) > 1 {
		return usagef("--default shows the conversation without an ID, leave out %q", args[1])
	}
	if _, err := vpath.Clean(cmp.Or(o.dir, memory.DefaultDir)); err != nil {
		return usagef("--dir %s: %w", o.dir, err)
	}
	which := conversation{all: len(args) < 2 && !o.theDefault}
	if len(args) > 1 {
		if args[1] == "" {
			return usagef("the ID is blank, --default shows the conversation without one")
		}
		which.id = args[1]
	}
	if near := nearVerbs(cmd, args[0]); len(near) > 0 && !strings.ContainsRune(args[0], ':') {
		return usagef("%q is neither a store nor a verb of memory, did you mean %s?", args[0], strings.Join(near, " or "))
	}
	url, table, err := tableOf(args[0])
	if err != nil {
		return err
	}
	if table != nil {
		return o.ofTable(cmd, url, table, which)
	}
	return o.ofStore(cmd, url, which)
}

// conversation is what memory is asked for: all, or one, whose id is "" for the
// default one.
type conversation struct {
	all bool
	id  string
}

func (c conversation) words() string {
	if c.id == "" {
		return "the conversation without an ID"
	}
	return fmt.Sprintf("the conversation %q", c.id)
}

func (c conversation) toListAll() string {
	if c.id == "" {
		return "leave out --default to list all"
	}
	return "leave out the ID to list all"
}

// remembered is what memory prints as JSON.
type remembered struct {
	ID      string `json:"id"`
	Default bool   `json:"default,omitempty"`
	Path    string `json:"path,omitempty"`    // of a file
	Table   string `json:"table,omitempty"`   // of a database
	Key     string `json:"key,omitempty"`     // in the table
	Damaged string `json:"damaged,omitempty"` // why it cannot be read
	memory.State
}

func rememberedOf(e memory.Entry) remembered {
	r := remembered{ID: e.ID, Default: e.IsDefault, Path: e.Path, State: e.State.Clone()}
	if e.Damaged != nil {
		r.Damaged = e.Damaged.Error()
	}
	return r
}

// ofStore prints what is remembered in files, and, of a SQLite database, in tables
// that can be nothing else.
func (o *memoryOptions) ofStore(cmd *cobra.Command, url string, which conversation) error {
	opened := false
	err := o.withStore(cmd, url, storeurl.Want{}, func(s *storeurl.Store) error {
		opened = true
		found, err := o.inFiles(cmd.Context(), s, which)
		missing := errors.Is(err, vfs.ErrNotFound)
		if u := s.Spec.URL; u.Scheme == storeurl.SQLite && o.dir == "" && (err == nil || missing) {
			more, tableErr := inTables(cmd.Context(), u, nil)
			if tableErr != nil {
				return tableErr
			}
			more = which.of(more)
			found = append(found, more...)
			missing = missing && len(more) == 0
		}
		switch {
		case missing:
			return fmt.Errorf("%w, %s", err, which.toListAll())
		case err != nil && !errors.Is(err, vfs.ErrNotFound):
			return err
		case len(found) == 0 && o.take == nil:
			return tellEmpty(cmd, s, "no conversation is remembered in "+printable(cmp.Or(o.dir, memory.DefaultDir))+" of")
		}
		return o.print(cmd, found, which)
	})
	if err == nil || opened || o.dir != "" || len(o.routes) > 0 {
		return err
	}
	// A phone's database may hold memories and no files.
	u, parseErr := storeurl.Parse(url)
	if parseErr != nil || u.Scheme != storeurl.SQLite {
		return err
	}
	found, tableErr := inTables(cmd.Context(), u, nil)
	if tableErr != nil || len(found) == 0 {
		return err
	}
	if found = which.of(found); len(found) == 0 {
		return fmt.Errorf("%s: nothing is remembered of %s, %s", u, which.words(), which.toListAll())
	}
	return o.print(cmd, found, which)
}

// ofTable prints what is remembered in a table that was named.
func (o *memoryOptions) ofTable(cmd *cobra.Command, url string, table *memoryTable, which conversation) error {
	if o.dir != "" || len(o.routes) > 0 {
		return usagef("a table of memories is in no directory and behind no route, leave --dir and --route out")
	}
	spec, err := o.spec(url)
	if err != nil {
		return err
	}
	found, err := inTables(cmd.Context(), spec.URL, table)
	if err != nil {
		return err
	}
	if found = which.of(found); len(found) > 0 || o.take != nil && which.all {
		return o.print(cmd, found, which)
	}
	where := printable(table.Table) + " of " + storeWords(spec)
	if !which.all {
		return fmt.Errorf("nothing is remembered of %s in the table %s, %s", which.words(), where, which.toListAll())
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "no conversation is remembered in the table %s under keys of the prefix %q\n", where, table.prefix)
	return err
}

// of returns those of a list that are asked for.
func (c conversation) of(list []remembered) []remembered {
	if c.all {
		return list
	}
	return slices.DeleteFunc(list, func(r remembered) bool { return r.ID != c.id || r.Default != (c.id == "") })
}

// inFiles returns what is remembered in files. vfs.ErrNotFound: nothing of the one
// conversation that is asked for.
func (o *memoryOptions) inFiles(ctx context.Context, s *storeurl.Store, which conversation) ([]remembered, error) {
	var entries []memory.Entry
	var err error
	if which.all {
		entries, err = memory.List(ctx, s.Backend, o.dir)
	} else {
		var e memory.Entry
		if e, err = memory.Show(ctx, s.Backend, o.dir, which.id); err == nil {
			entries = append(entries, e)
		}
	}
	var found []remembered
	for _, e := range entries {
		found = append(found, rememberedOf(e))
	}
	return found, err
}

func (o *memoryOptions) print(cmd *cobra.Command, found []remembered, which conversation) error {
	if o.take != nil {
		return o.take(found)
	}
	out := newOutput(cmd)
	var err error
	gap := ""
	for _, r := range found {
		switch {
		case o.asJSON:
			err = out.JSON(r)
		case o.full && which.all && r.Damaged != "":
			out.Printf("%sconversation  %s\ndamaged       %s\n", gap, r.name(), r.Damaged)
		case !which.all, o.full:
			out.Printf("%s", gap)
			err = r.show(out)
		case r.Damaged != "":
			out.Printf("%s  damaged: %s\n", r.name(), r.Damaged)
		default:
			out.Printf("%s  %s  %s\n", r.name(), count(len(r.Recent), "exchange", "exchanges"), r.where())
		}
		gap = "\n"
		if err != nil {
			break
		}
	}
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// name is the conversation in a list.
func (r remembered) name() string {
	switch {
	case r.Default:
		return "(default)"
	case r.ID == "":
		return "(unknown)"
	}
	return printable(r.ID)
}

// where is the place of a conversation, for people.
func (r remembered) where() string {
	if r.Table != "" {
		return printable(r.Table) + " " + printable(r.Key)
	}
	return r.Path
}

func (r remembered) show(out *output) error {
	if r.Damaged != "" {
		return errors.New(r.where() + ": " + r.Damaged)
	}
	where := "file          "
	if r.Table != "" {
		where = "table, key    "
	}
	out.Printf("conversation  %s\n%s%s\n", r.name(), where, r.where())
	if r.Summary != "" {
		out.Printf("\n%s\n", r.Summary)
	}
	for _, x := range r.Recent {
		out.Printf("\n")
		if !x.At.IsZero() {
			out.Printf("%s\n", timeText(x.At))
		}
		out.Printf("> %s\n", x.Ask)
		for _, step := range x.Steps {
			out.Printf("  - %s\n", step)
		}
		out.Printf("%s\n", x.Answer)
	}
	return out.Err()
}
