package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/reason"
)

type mountOptions struct {
	storeFlags
	bridge  fusebridge.Options
	detach  bool
	log     string
	verbose bool
}

func newMount() *cobra.Command {
	var o mountOptions
	cmd := &cobra.Command{
		Use:   "mount STORE DIR",
		Short: "Show a store as a directory",
		Long: `Show a store at the empty directory DIR, read-only unless --rw is given, until
interrupted or unmounted. A DIR that does not exist is made, and removed at the
end. One line on standard output says when it is ready. With --detach it goes on
in the background, with its messages in a log file, which begins anew at the first
start after it has grown over 1 MiB.`,
		Example: "  goliathfs mount badger:./store /mnt/agent\n  goliathfs mount --detach unix:/tmp/agent.sock /mnt/agent",
		GroupID: groupMount,
		Args:    takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("log") && !o.detach {
				return usagef("--log is for --detach, messages go to standard error without it")
			}
			if _, err := o.spec(args[0]); err != nil {
				return err
			}
			if o.detach {
				return o.background(cmd, args[1])
			}
			return o.run(cmd, args[0], args[1])
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.bridge.ReadWrite, "rw", false, "let files be created, edited and removed")
	f.BoolVar(&o.bridge.AllowOther, "allow-other", false, "let other users in, as file modes permit")
	f.BoolVar(&o.bridge.XAttr, "xattr", false, "show path, revision and route as extended attributes")
	f.BoolVar(&o.bridge.Repositories, "repositories", false, "show .git, .hg and HEAD as they are; git and hg run what is in them")
	f.BoolVar(&o.bridge.NonEmpty, "nonempty", false, "mount over a directory that holds files")
	f.BoolVar(&o.detach, "detach", false, "go on in the background")
	f.StringVar(&o.log, "log", "", "the log `file` of --detach, if not the one in the state directory")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log what happens in detail")
	return cmd
}

func (o *mountOptions) run(cmd *cobra.Command, url, dir string) error {
	if dir == "" {
		return usagef("the directory to mount at has an empty name, write one, for example: %s", "goliathfs mount "+url+" ./mnt")
	}
	want := storeurl.Want{Long: true}
	if o.bridge.ReadWrite {
		want.Write = true
	}
	return o.withStore(cmd, url, want, func(s *storeurl.Store) error {
		switch err := os.Mkdir(dir, 0o755); {
		case err == nil:
			defer os.Remove(dir) // it fails, rightly, when someone put something there
		case errors.Is(err, fs.ErrNotExist) && !exists(filepath.Dir(dir)):
			return fmt.Errorf("there is no directory %s to make %s in, create it first", filepath.Dir(dir), filepath.Base(dir))
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission) && !exists(dir):
			return fmt.Errorf("the directory %s to mount at cannot be made, name one that exists or can be: %w", dir, reason.Of(err))
		}
		o.bridge.Name = absolute(s.Spec.URL).String()
		o.bridge.Logger = newLogger(cmd.ErrOrStderr(), slog.LevelInfo, o.verbose)
		if err := tellUnlisted(cmd, s, "/"); err != nil {
			return err
		}
		server, err := fusebridge.Mount(cmd.Context(), s.Backend, dir, &o.bridge)
		switch {
		case errors.Is(err, fusebridge.ErrUnsupported):
			return errNoMounts(s.Spec)
		case errors.Is(err, fusebridge.ErrNotEmpty):
			return fmt.Errorf("%w, or mount over it with --nonempty", err)
		case err != nil:
			return err
		}
		access := "read-only"
		if o.bridge.ReadWrite {
			access = "writable"
		}
		// Without a reader the mount is of use all the same.
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "mounted %s at %s (%s), end it with goliathfs unmount %s\n",
			o.bridge.Name, server.Dir(), access, shellWord(server.Dir()))
		return server.Wait()
	})
}

// errNoMounts says what there is instead on a system without mounts.
func errNoMounts(spec storeurl.Spec) error {
	store := storeWords(spec)
	return fmt.Errorf("only Linux can mount a store: look into it with goliathfs ls %[1]s and goliathfs cat %[1]s PATH, or take its files out with goliathfs copy %[1]s dir:FOLDER", store)
}

// absolute makes the name of a store understood from every directory, for who
// looks at the mount from elsewhere.
func absolute(u storeurl.URL) storeurl.URL {
	if !u.OnHost() {
		return u
	}
	if abs, err := filepath.Abs(u.Target); err == nil {
		u.Target = abs
	}
	return u
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// newLogger returns a logger of a level and above, or of everything, for people.
func newLogger(w io.Writer, level slog.Level, verbose bool) *slog.Logger {
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
