//go:build linux

package fusebridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// appendLines is a child that appends lines to a file, opening it anew for each,
// and prints what failed. Its arguments are the file, its own name and how many.
func appendLines(args []string) {
	var failures []string
	for n := range atoi(args[2]) {
		if err := appendLine(args[0], fmt.Sprintf("%s-%d\n", args[1], n)); err != nil {
			failures = append(failures, err.Error())
		}
	}
	json.NewEncoder(os.Stdout).Encode(failures)
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// TestAppendersShareOneBuffer: several programs that append to one file at the same
// time lose no line, also when one closes it while another is opening it.
func TestAppendersShareOneBuffer(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": ""})
	s := mount(t, mem, writable(t))
	const programs = 6
	lines := pick(60, 200, 1000)
	var running []io.Reader
	for p := range programs {
		_, out, _ := child(t, "lines", under(s, "/f"), fmt.Sprint(p), fmt.Sprint(lines))
		running = append(running, out)
	}
	for p, out := range running {
		var failures []string
		if err := json.NewDecoder(out).Decode(&failures); err != nil || len(failures) > 0 {
			t.Errorf("program %d: %v, it was told %.300q", p, err, failures)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(stored(t, mem)["/f"]) {
		seen[line] = true
	}
	if want := programs * lines; len(seen) != want {
		t.Errorf("%d different lines are left of %d", len(seen), want)
	}
}

// renameToAndFro is a child that renames a file away and back until its standard
// input ends, then prints what failed.
func renameToAndFro(args []string) {
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	failures := []string{}
	for !stop.Load() {
		for _, to := range [][2]string{{args[0], args[1]}, {args[1], args[0]}} {
			if err := os.Rename(to[0], to[1]); err != nil {
				failures = append(failures, err.Error())
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(failures)
}

// TestAppendWhileRenamed: a rename holds the directory's lock and waits for the
// file's, a write holds that and waits for a commit. None may wait for a
// notification, which needs the directory's. The store's time limit would end the
// wait with an input/output error.
func TestAppendWhileRenamed(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": ""})
	s := mount(t, mem, writable(t))
	in, renamed, _ := child(t, "rename", under(s, "/f"), under(s, "/g"))
	var running []io.Reader
	for p := range 2 {
		_, out, _ := child(t, "lines", under(s, "/f"), fmt.Sprint(p), fmt.Sprint(pick(500, 2000, 10000)))
		running = append(running, out)
	}
	const hung = "input/output error"
	told := func(who string, out io.Reader) {
		var failures []string
		if err := json.NewDecoder(out).Decode(&failures); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		for _, failure := range failures {
			if strings.Contains(failure, hung) {
				t.Errorf("%s: %s", who, failure)
			}
		}
	}
	for _, out := range running {
		told("an appending program", out)
	}
	in.Close()
	told("the renaming program", renamed)
}

// syncAndRead is a child that rewrites a file again and again, while someone looks
// at the old text, and prints how often what it had synced was not what it read.
func syncAndRead(args []string) {
	stale := 0
	for n := range atoi(args[1]) {
		want := fmt.Sprint(n)
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		os.ReadFile(args[0])
		f.WriteString(want)
		f.Sync()
		if args[2] == "close" {
			f.Close()
		}
		if got, err := os.ReadFile(args[0]); err != nil || string(got) != want {
			stale++
		}
		f.Close()
	}
	fmt.Println("stale:", stale)
}

// TestSyncedIsSeen: what was synced is what the next opening shows, though the file
// was looked at in between.
func TestSyncedIsSeen(t *testing.T) {
	for _, how := range []string{"close", "keep open"} {
		t.Run(how, func(t *testing.T) {
			s := mount(t, newMem(t, map[string]string{"/f": "old"}), writable(t))
			_, out, _ := child(t, "sync", under(s, "/f"), fmt.Sprint(pick(200, 500, 5000)), how)
			if got, err := out.ReadString('\n'); err != nil || got != "stale: 0\n" {
				t.Errorf("the program says %q, %v", got, err)
			}
		})
	}
}

// TestUnmountCommits: what is being written when the mount ends, by whichever way,
// is in the store.
func TestUnmountCommits(t *testing.T) {
	tests := []struct {
		name string
		end  func(*fusebridge.Server, context.CancelFunc) error
	}{
		{"unmount", func(s *fusebridge.Server, _ context.CancelFunc) error { return s.Unmount() }},
		{"the context", func(s *fusebridge.Server, cancel context.CancelFunc) error { cancel(); return s.Unmount() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			needFuse(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			mem := newMem(t, map[string]string{"/f": "old"})
			opts := writable(t)
			opts.UnmountTimeout = time.Millisecond // the file stays open
			s, err := fusebridge.Mount(ctx, mem, t.TempDir(), opts)
			if err != nil {
				t.Fatal(err)
			}
			look := newLooker(t)
			look.ask("edit", under(s, "/f"))
			look.ask("type", under(s, "/f")+" new")
			if err := tt.end(s, cancel); err != nil {
				t.Error(err)
			}
			if got := stored(t, mem)["/f"]; got != "new" {
				t.Errorf("the store has %q", got)
			}
			look.ask("close", under(s, "/f"))
			if err := s.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNothingIsExecutable: the mode has no such bit, and access says so.
func TestNothingIsExecutable(t *testing.T) {
	s := mount(t, newMem(t, map[string]string{"/f": "old"}), writable(t))
	if out, err := shell(t, s.Dir(), "test -r f && test -w f && ! test -x f && echo new >f && ! test -x f && test -x ."); err != nil {
		t.Errorf("%v %s", err, out)
	}
}
