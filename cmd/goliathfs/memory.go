package main

import (
	"cmp"
	"errors"
	"fmt"

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
}

func newMemory() *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   "memory STORE [ID]",
		Short: "List conversations that an agent remembers, or show one",
		Long: `List the conversation memories that a store keeps as files, or show that of the
conversation ID (--default for the one without an ID): its summary and its last
exchanges.`,
		Example: "  goliathfs memory badger:./store\n  goliathfs memory badger:./store garden",
		GroupID: groupLook,
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.theDefault && len(args) > 1 {
				return usagef("--default shows the conversation without an ID, leave out %q", args[1])
			}
			if _, err := vpath.Clean(cmp.Or(o.dir, memory.DefaultDir)); err != nil {
				return usagef("--dir %s: %w", o.dir, err)
			}
			return o.withStore(cmd, args[0], storeurl.Want{}, func(s *storeurl.Store) error {
				out := newOutput(cmd)
				var err error
				switch {
				case o.theDefault:
					err = o.show(cmd, out, s, "")
				case len(args) > 1:
					if args[1] == "" {
						return usagef("the ID is blank, --default shows the conversation without one")
					}
					err = o.show(cmd, out, s, args[1])
				default:
					err = o.list(cmd, out, s)
				}
				if flushErr := out.Flush(); err == nil {
					err = flushErr
				}
				return err
			})
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.dir, "dir", "", "the `directory` of the memories in the store, if not the usual one")
	cmd.Flags().BoolVar(&o.theDefault, "default", false, "show the conversation without an ID")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON objects")
	return cmd
}

// remembered is what memory prints as JSON.
type remembered struct {
	ID      string `json:"id"`
	Default bool   `json:"default,omitempty"`
	Path    string `json:"path"`
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

func (o *memoryOptions) list(cmd *cobra.Command, out *output, s *storeurl.Store) error {
	dir := cmp.Or(o.dir, memory.DefaultDir)
	entries, err := memory.List(cmd.Context(), s.Backend, o.dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return tellEmpty(cmd, s, "no conversation is remembered in "+printable(dir)+" of")
	}
	for _, e := range entries {
		r := rememberedOf(e)
		switch {
		case o.asJSON:
			out.JSON(r)
		case r.Damaged != "":
			out.Printf("%s  damaged: %s\n", r.name(), r.Damaged)
		default:
			out.Printf("%s  %s  %s\n", r.name(), count(len(r.Recent), "exchange", "exchanges"), r.Path)
		}
	}
	return out.Err()
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

func (o *memoryOptions) show(cmd *cobra.Command, out *output, s *storeurl.Store, id string) error {
	e, err := memory.Show(cmd.Context(), s.Backend, o.dir, id)
	if errors.Is(err, vfs.ErrNotFound) {
		return fmt.Errorf("%w, leave the name out to list all", err)
	}
	if err != nil {
		return err
	}
	r := rememberedOf(e)
	if o.asJSON {
		return out.JSON(r)
	}
	if r.Damaged != "" {
		return errors.New(r.Path + ": " + r.Damaged)
	}
	out.Printf("conversation  %s\nfile          %s\n", r.name(), r.Path)
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
