package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/visible"
)

func newUnmount() *cobra.Command {
	var all, verbose bool
	cmd := &cobra.Command{
		Use:        "unmount DIR…",
		SuggestFor: []string{"umount"},
		Short:      "Unmount stores, also dead mounts",
		Long: `Unmount the store at each DIR. A mount that is in use is detached after two
seconds and its users are named; one whose server was killed is taken away. With
--all all mounts of this user are, for root those of every user, and each is named
with its store.`,
		Example: "  goliathfs unmount /mnt/agent\n  goliathfs unmount --all",
		GroupID: groupMount,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usagef("--all unmounts everything, leave out %q", args[0])
			case all:
				return nil
			}
			if slices.Contains(args, "") {
				return usagef("a directory has an empty name, write goliathfs unmount DIR, or see goliathfs mounts")
			}
			return takes(1, -1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, dirs []string) error {
			mounts, err := fusebridge.List()
			if err != nil {
				return err
			}
			showed := map[string]string{}
			if all {
				dirs, showed = mountsToEnd(mounts)
			}
			return unmountEach(cmd, mounts, dirs, showed, newLogger(cmd.ErrOrStderr(), slog.LevelWarn, verbose))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "unmount all that this user mounted, for root all there is")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log what happens in detail")
	return cmd
}

// mountsToEnd returns the mounts that this user may take away, and what each showed.
func mountsToEnd(mounts []fusebridge.Mounted) (dirs []string, showed map[string]string) {
	showed = map[string]string{}
	for _, m := range mounts {
		if uid := os.Getuid(); uid != 0 && m.UID != uid {
			continue
		}
		dirs = append(dirs, m.Dir)
		showed[m.Dir] = fmt.Sprintf(" (%s, process %s)", printable(m.Name), pidText(m.PID))
	}
	return dirs, showed
}

// unmountEach takes mounts away, and says of each what became of it.
func unmountEach(cmd *cobra.Command, mounts []fusebridge.Mounted, dirs []string, showed map[string]string, log *slog.Logger) error {
	if len(dirs) == 0 {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), "nothing is mounted")
		return err
	}
	failed := false
	for _, dir := range slices.Backward(dirs) { // what was mounted last may lie inside another
		if err := unmount(cmd.Context(), mounts, dir, log); err != nil {
			failed = true
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cmd.CommandPath(), visible.Line(err))
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "unmounted %s%s\n", dir, showed[dir]); err != nil {
			return err
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// unmount takes one mount away. When it was served by another process of this
// program, its end is waited for, so that the store is free for the next verb.
func unmount(ctx context.Context, mounts []fusebridge.Mounted, dir string, log *slog.Logger) error {
	where := mountedAt(dir) // the server may remove the directory
	if err := fusebridge.Unmount(ctx, dir, &fusebridge.Options{Logger: log}); err != nil {
		return fmt.Errorf("%w, see goliathfs mounts", err)
	}
	for _, m := range mounts {
		if m.Dir == where && runsThisProgram(m.PID) && !waitForEnd(ctx, m.PID) {
			log.Warn("the server still closes its store", "pid", m.PID, "store", m.Name)
		}
	}
	return nil
}

// mountedAt is how the kernel names a directory. The last element may be a mount
// that hangs, which must not be looked at.
func mountedAt(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return abs
	}
	return filepath.Join(parent, filepath.Base(abs))
}

// runsThisProgram reports whether pid is another process of a program with the
// name of this one: the file itself may have been built anew since. An agent that
// mounts its own store is not, it lives on.
func runsThisProgram(pid int) bool {
	if pid == 0 || pid == os.Getpid() {
		return false
	}
	mine, other := programOf("self"), programOf(strconv.Itoa(pid))
	return mine != "" && mine == other
}

// programOf returns the name of the program that a process runs, "" for a process
// that has ended or belongs to someone else.
func programOf(process string) string {
	exe, err := os.Readlink("/proc/" + process + "/exe")
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
}

// endBound is how long unmount waits for the server to close its store.
const endBound = 5 * time.Second

// waitForEnd reports whether the process has ended within endBound.
func waitForEnd(ctx context.Context, pid int) bool {
	ctx, cancel := context.WithTimeout(ctx, endBound)
	defer cancel()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for runsThisProgram(pid) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
