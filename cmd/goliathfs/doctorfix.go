package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// fix is what doctor can do about a finding, safely: what it is about is dead. do looks
// again before it does anything.
type fix struct {
	question string // without the question mark
	do       func(ctx context.Context) error
}

// fixFlags say whether doctor mends.
type fixFlags struct {
	fix, yes bool
	in       *bufio.Reader
}

func (f *fixFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.fix, "fix", false, "mend what is safe to mend, each after a question")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --fix, ask nothing")
}

func (f *fixFlags) check(cmd *cobra.Command) error {
	switch {
	case f.yes && !f.fix:
		return usagef("--yes answers what --fix asks, add --fix")
	case f.fix && !f.yes && !(isTerminal(cmd.InOrStdin()) && isTerminal(cmd.ErrOrStderr())):
		return usagef("--fix asks a person, and this is no terminal: add --yes, and look first without --fix")
	}
	f.in = bufio.NewReader(cmd.InOrStdin())
	return nil
}

// mend does what can be done about the findings, and says of each what became of it.
func (f *fixFlags) mend(cmd *cobra.Command, findings []finding) error {
	for i := range findings {
		found := &findings[i]
		if found.fix == nil {
			continue
		}
		take, err := f.ask(cmd, found.fix.question)
		if err != nil {
			return err
		}
		if !take {
			continue
		}
		if err := found.fix.do(cmd.Context()); err != nil {
			found.Text += "; it was not mended: " + visible.Line(err)
			continue
		}
		found.Verdict, found.Text = fixed, found.Text+"; mended"
	}
	return nil
}

func (f *fixFlags) ask(cmd *cobra.Command, question string) (bool, error) {
	if f.yes {
		return true, nil
	}
	if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s? [y]es, [n]o: ", question); err != nil {
		return false, err
	}
	answer, err := await(cmd.Context(), func() (string, error) { return f.in.ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// fixMount takes away a mount whose server is gone.
func fixMount(m fusebridge.Mounted) *fix {
	if uid := os.Getuid(); m.Health != fusebridge.Dead || uid != 0 && m.UID != uid {
		return nil
	}
	return &fix{
		question: "take away the dead mount at " + printable(m.Dir),
		do: func(ctx context.Context) error {
			now, err := fusebridge.List()
			if err != nil {
				return err
			}
			for _, n := range now {
				if n.Dir == m.Dir && n.Health != fusebridge.Dead {
					return errors.New("meanwhile something alive is mounted there")
				}
			}
			return fusebridge.Unmount(ctx, m.Dir, nil)
		},
	}
}

// staleTime bounds how long doctor waits for who may listen on a socket.
const staleTime = 200 * time.Millisecond

// fixStore mends a store that could not be opened, or whose writer was killed.
func fixStore(u storeurl.URL, err error) *fix {
	switch {
	case u.Scheme == storeurl.Unix && isStale(u.Target):
		return &fix{
			question: "remove the socket " + printable(u.Target) + ", on which no one listens",
			do:       func(context.Context) error { return remotefs.RemoveStale(u.Target) },
		}
	case errors.Is(err, database.ErrKilled):
		return &fix{
			question: "take in what the killed writer of " + printable(u.String()) + " has left",
			do:       func(ctx context.Context) error { return openOnce(ctx, u, storeurl.Want{}) },
		}
	case err == nil && u.Scheme == storeurl.SQLite && !u.ReadOnly && database.LeftBehind(u.Target) != "":
		return &fix{
			question: "take the log " + printable(database.LogOf(u.Target)) + " of a killed writer into the database",
			do: func(ctx context.Context) error {
				if database.LeftBehind(u.Target) == "" {
					return errors.New("meanwhile someone has it open")
				}
				return openOnce(ctx, u, storeurl.Want{Write: true})
			},
		}
	}
	return nil
}

// isStale reports whether a file is a socket on which no one listens.
func isStale(name string) bool {
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return false
	}
	conn, err := net.DialTimeout("unix", name, staleTime)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// openOnce opens a store and closes it.
func openOnce(ctx context.Context, u storeurl.URL, want storeurl.Want) error {
	return withOpener(func(o *storeurl.Opener) error {
		_, err := o.Open(ctx, storeurl.Spec{URL: u}, want)
		return err
	})
}
