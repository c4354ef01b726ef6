package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// background runs this command again, without --detach, in a session of its
// own. It returns when the child has said that it is ready, or has failed.
func (o *mountOptions) background(cmd *cobra.Command, dir string) error {
	if !canDetach {
		return usagef("--detach is not for %s, leave it out and keep the window open", runtime.GOOS)
	}
	log, err := o.openLog(dir)
	if err != nil {
		return err
	}
	defer log.Close()
	args := withoutDetach(os.Args[1:])
	start, err := beginLog(log, time.Now(), args)
	if err != nil {
		return fmt.Errorf("the log %s cannot be written, name another file with --log: %w", log.Name(), reason.Of(err))
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to run it in the background: %w", err)
	}
	// The child outlives this process, so it has no context; see Wait below.
	child := exec.Command(self, args...)
	child.Args[0] = os.Args[0]
	child.Stderr = log
	child.SysProcAttr = ownSession()
	if err := handPasswords(cmd.Context(), child); err != nil {
		return err
	}
	ready, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("cannot start in the background: %w", err)
	}
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(ready).ReadString('\n') // "" when the child ends first
		line <- text
	}()
	select {
	case text := <-line:
		if text == "" {
			return o.childFailed(cmd, child, log, start)
		}
		if said, err := saidSince(log, start); err == nil {
			_, _ = cmd.ErrOrStderr().Write(said) // such as that the store shows no files
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s (process %d, log in %s)\n", strings.TrimSpace(text), child.Process.Pid, log.Name())
		return errors.Join(err, child.Process.Release())
	case <-cmd.Context().Done():
		return errors.Join(cmd.Context().Err(), child.Process.Signal(syscall.SIGTERM), child.Wait())
	}
}

// saidSince returns what stands in the log from start on, at most 64 KiB.
func saidSince(log *os.File, start int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(log, start, 64<<10))
}

// childFailed tells what the child wrote to the log, which holds its reason.
func (o *mountOptions) childFailed(cmd *cobra.Command, child *exec.Cmd, log *os.File, start int64) error {
	err := child.Wait()
	said, readErr := saidSince(log, start)
	if readErr != nil || len(said) == 0 {
		return fmt.Errorf("the background process ended at once (%v), see %s", err, log.Name())
	}
	if _, err := cmd.ErrOrStderr().Write(said); err != nil {
		return err
	}
	return errReported
}

// withoutDetach drops the flags that concern only the process in front.
func withoutDetach(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(kept, args[i:]...)
		case arg == "--detach", strings.HasPrefix(arg, "--detach="), strings.HasPrefix(arg, "--log="):
		case arg == "--log":
			i++
		default:
			kept = append(kept, arg)
		}
	}
	return kept
}

// openLog opens the log file for appending.
func (o *mountOptions) openLog(dir string) (*os.File, error) {
	name := o.log
	if name == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		state, err := stateDir()
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(state, 0o700); err != nil {
			return nil, fmt.Errorf("the directory %s for the log cannot be made, name a log with --log: %w", state, reason.Of(err))
		}
		name = filepath.Join(state, "mount"+strings.NewReplacer("/", "-", "-", "%2D", "%", "%25").Replace(abs)+".log")
	}
	log, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the log %s cannot be opened, name another file with --log: %w", name, reason.Of(err))
	}
	return log, nil
}

// mostLog is the size, in bytes, from which a log begins anew at the next start.
const mostLog = 1 << 20

// beginLog writes when what was started, so that the lines below have a time, and
// returns where those begin.
func beginLog(log *os.File, now time.Time, args []string) (int64, error) {
	info, err := log.Stat()
	if err != nil {
		return 0, err
	}
	if info.Mode().IsRegular() && info.Size() > mostLog {
		if err := log.Truncate(0); err != nil {
			return 0, err
		}
	}
	words := []string{"goliathfs"}
	for _, arg := range args {
		words = append(words, shellWord(arg))
	}
	if _, err := fmt.Fprintf(log, "%s started: %s\n", now.Format(time.RFC3339), strings.Join(words, " ")); err != nil {
		return 0, err
	}
	return log.Seek(0, io.SeekEnd)
}

// stateDir is where the user's programs keep what they can do without.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "goliathfs"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the home directory, name a log with --log: %w", err)
	}
	return filepath.Join(home, ".local", "state", "goliathfs"), nil
}
