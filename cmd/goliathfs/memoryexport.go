package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newMemoryShow() *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:     "show STORE [ID]",
		Short:   "Show conversations in full",
		Long:    "Show what is remembered of the conversation ID, or of every one, in full.",
		Example: "  goliathfs memory show badger:./store garden",
		Args:    takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.full = true
			return o.run(cmd, args)
		},
	}
	o.registerAll(cmd)
	return cmd
}

type exportOptions struct {
	memoryOptions
	out, files string
}

func newMemoryExport() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export STORE [ID]",
		Short: "Make a scenario of a conversation",
		Long: `Print what is remembered of the conversation ID, or of the one that was had last, as
the part "memory" of a scenario. With --out a whole scenario is written, which
replays the last exchange: over what was remembered before it and over the files of
the store, with a model that answers as it did. Files at or below --files are taken
(default /, those of memories left out; "" takes none).

What looks like a secret is refused.`,
		Example: "  goliathfs memory export 'sqlite:app.db?namespace=garden' garden\n  goliathfs memory export 'sqlite:app.db?namespace=garden' --out scenarios/phone/garden.txtar",
		Args:    takes(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.register(cmd)
	o.registerWhich(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "write a scenario to this `file`, which must not exist")
	cmd.Flags().StringVar(&o.files, "files", "/", "take the files at or below this `directory` of the store into the scenario")
	return cmd
}

func (o *exportOptions) run(cmd *cobra.Command, args []string) error {
	if o.out == "" && cmd.Flags().Changed("files") {
		return usagef("--files is about a scenario, add --out FILE")
	}
	if o.out != "" && filepath.Ext(o.out) != ".txtar" {
		return usagef("--out %s is no name of a scenario, end it in .txtar", shellWord(o.out))
	}
	if o.files != "" {
		if _, err := vpath.Clean(o.files); err != nil {
			return usagef("--files %s: %w", o.files, err)
		}
	}
	var export transcript.Remembered
	o.take = func(found []remembered) error {
		which, err := lastOf(found)
		export.ID, export.State = which.ID, which.State
		return err
	}
	if err := o.memoryOptions.run(cmd, args); err != nil {
		return err
	}
	if o.out == "" {
		text, err := export.Memory()
		if err != nil {
			return exportError(err)
		}
		out := newOutput(cmd)
		out.Printf("%s", text)
		return out.Flush()
	}
	if o.files != "" {
		if err := o.takeFiles(cmd, args[0], &export); err != nil {
			return err
		}
	}
	text, err := export.Scenario()
	if err != nil {
		return exportError(err)
	}
	if err := writeNew(o.out, text, 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s with %s, now goliathfs replay --update %s\n",
		printable(o.out), count(len(export.Files), "file", "files"), shellWord(o.out))
	return err
}

// exportError says where a secret is, which the library names by what it was given.
func exportError(err error) error {
	if errors.Is(err, transcript.ErrNothing) {
		return errors.New("no exchange is remembered that has a request and an answer, so there is nothing to replay: leave --out away")
	}
	return err
}

// lastOf returns the conversation that was had last.
func lastOf(found []remembered) (last remembered, err error) {
	there := false
	for _, r := range found {
		if r.Damaged != "" {
			err = errors.Join(err, errors.New(r.where()+": "+r.Damaged))
			continue
		}
		if !there || newest(r.State).After(newest(last.State)) {
			last, there = r, true
		}
	}
	switch {
	case there:
		return last, nil
	case err != nil:
		return last, err
	}
	return last, errors.New("no conversation is remembered there, goliathfs memory lists those that are")
}

// newest returns when the last exchange was.
func newest(s memory.State) (t time.Time) {
	for _, x := range s.Recent {
		if x.At.After(t) {
			t = x.At
		}
	}
	return t
}

// mostExported is how many bytes of files a scenario takes at most.
const mostExported = 16 << 20

// takeFiles adds the files of the store. A database that has memories in a table may
// have none.
func (o *exportOptions) takeFiles(cmd *cobra.Command, store string, to *transcript.Remembered) error {
	url, _, err := tableOf(store)
	if err != nil {
		return err
	}
	opened := false
	err = o.withStore(cmd, url, storeurl.Want{}, func(s *storeurl.Store) (err error) {
		opened = true
		to.Files, err = o.filesOf(cmd.Context(), s)
		return err
	})
	if err != nil && !opened {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "no files are taken: %s\n", visible.Line(err))
	}
	return err
}

// filesOf returns the files of a store that a scenario takes.
func (o *exportOptions) filesOf(ctx context.Context, s *storeurl.Store) (map[string]string, error) {
	files, size, found := map[string]string{}, 0, o.files == "/"
	dir := cmp.Or(o.dir, memory.DefaultDir)
	for info, err := range walk.Files(ctx, s.Backend, o.files) {
		if err != nil {
			return nil, err
		}
		found = true
		if vpath.Within(info.Path, dir) {
			continue
		}
		f, err := vfs.Read(ctx, s.Backend, info.Path)
		if err != nil {
			return nil, err
		}
		files[f.Path] = f.Content
		if size += len(f.Content); size > mostExported {
			return nil, fmt.Errorf("the files at or below %s have more than %d bytes, take fewer with --files DIR", printable(o.files), mostExported)
		}
	}
	if !found {
		return nil, fmt.Errorf("no file is at or below %s, name another directory with --files", printable(o.files))
	}
	return files, nil
}
