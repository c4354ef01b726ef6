package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// journalFlags are the bounds of a journal, for the verbs that write one.
type journalFlags struct {
	size string
	age  time.Duration
}

func (f *journalFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.size, "max-size", "1GiB", "fold the oldest states at this `size`; 0: never")
	cmd.Flags().DurationVar(&f.age, "max-age", 0, "fold states older than this `time`, as in 720h; 0: never")
}

func (f *journalFlags) options() (*journalfs.Options, error) {
	size, err := parseSize(f.size)
	switch {
	case err != nil:
		return nil, usagef("--max-size %s: %w", f.size, err)
	case f.age < 0:
		return nil, usagef("--max-age %v is below 0, 0 means that age is no reason", f.age)
	case size == 0:
		size = -1
	}
	return &journalfs.Options{MaxBytes: size, MaxAge: f.age}, nil
}

// parseSize reads a number of bytes, which may end in kB, MB, GB, KiB, MiB or GiB.
func parseSize(text string) (int64, error) {
	number, factor := text, int64(1)
	for _, unit := range []struct {
		name   string
		factor int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}} {
		if before, ok := strings.CutSuffix(text, unit.name); ok {
			number, factor = strings.TrimSpace(before), unit.factor
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, errors.New("write a number of bytes, or one with a unit, as in 500MB or 2GiB")
	}
	return n * factor, nil
}

// open opens a journal for writing. Its errors name it, and it says on standard error
// when its disk is full.
func (f *journalFlags) open(cmd *cobra.Command, name string) (*journalfs.Journal, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	said := cmd.ErrOrStderr()
	opts.Full = func(err error) {
		text := "there is room again, so it goes on"
		if err != nil {
			text = err.Error() + ": until then it takes nothing"
		}
		fmt.Fprintf(said, "%s: %s\n", printable(name), text)
	}
	if strings.HasPrefix(name, string(storeurl.Journal)+":") {
		return nil, usagef("the journal is a file here, write %s", shellWord(strings.TrimPrefix(name, string(storeurl.Journal)+":")))
	}
	j, err := journalfs.Open(name, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", printable(name), err)
	}
	return j, nil
}

func newJournal() *cobra.Command {
	var flags storeFlags
	var bounds journalFlags
	var to string
	cmd := &cobra.Command{
		Use:   "journal STORE",
		Short: "Keep every revision of a store in a file, with its time",
		Long: `Follow a store until interrupted, and keep every revision of its files in the
journal --to FILE, with the time at which it was seen. First the store is looked
through. What could not be seen, such as what was replaced while nothing followed
the store, is said in the journal. The line on standard output says when it is ready.

goliathfs log FILE tells what happened; journal:FILE@TIME and journal:FILE@REVISION
are the files as they were, as a store that can only be read.`,
		Example: "  goliathfs journal unix:/tmp/agent.sock --to agent.journal\n  goliathfs journal sqlite:app.db --to app.journal --max-size 200MB --max-age 720h",
		GroupID: groupCare,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usagef("say where the journal is: --to FILE")
			}
			if _, err := bounds.options(); err != nil {
				return err
			}
			return flags.withStore(cmd, args[0], storeurl.Want{Long: true, Await: true}, func(s *storeurl.Store) error {
				tellAlone(cmd, s)
				j, err := bounds.open(cmd, to)
				if err != nil {
					return err
				}
				err = journalfs.Follow(cmd.Context(), s.Backend, j, func() {
					// Without a reader the journal is of use all the same.
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "journal %s follows %s, look into it with goliathfs log %s\n", printable(to), s.Spec.URL, shellWord(to))
				})
				if cmd.Context().Err() != nil && errors.Is(err, context.Canceled) {
					err = nil
				}
				return errors.Join(err, j.Close())
			})
		},
	}
	flags.register(cmd)
	bounds.register(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the `file` of the journal, made when there is none")
	return cmd
}

// tellAlone says on standard error that a Badger store that is followed is followed in
// vain: no one else can write to it.
func tellAlone(cmd *cobra.Command, s *storeurl.Store) {
	for _, part := range s.Parts {
		if part.URL.Scheme == storeurl.Badger {
			fmt.Fprintf(cmd.ErrOrStderr(), "no one else can write to %s while it is followed: follow its agent instead, with unix:SOCKET, or serve it with a journal (see goliathfs serve --journal)\n", part.URL)
		}
	}
}

// journaled is a store that is served with a journal behind it, and followed, for
// others may change it too.
type journaled struct {
	store    vfs.Backend
	cancel   context.CancelFunc
	followed chan error
	journal  *journalfs.Journal
}

// behind puts a journal behind a store, until end is called. The context that it
// returns ends when the store cannot be followed any more.
func (f *journalFlags) behind(cmd *cobra.Command, name string, b vfs.Backend) (context.Context, *journaled, error) {
	ctx := cmd.Context()
	j, err := f.open(cmd, name)
	if err != nil {
		return nil, nil, err
	}
	store, err := journalfs.Wrap(ctx, b, j)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	followed := make(chan error, 1)
	go func() {
		err := journalfs.Follow(ctx, b, j, nil)
		switch {
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, context.Canceled):
			err = nil // it does not change, or no more
		case err != nil:
			cancel()
		}
		followed <- err
	}()
	return ctx, &journaled{store, cancel, followed, j}, nil
}

// end returns why the store could not be followed, or the journal not be closed.
func (j *journaled) end() error {
	j.cancel()
	return errors.Join(<-j.followed, j.journal.Close())
}
