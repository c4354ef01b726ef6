//go:build linux

package fusebridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
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
	lines := testsize.Pick(60, 60, 1000)
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

// repeat does something until standard input ends, then prints what failed.
func repeat(do func() error) {
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	failures := []string{}
	for !stop.Load() {
		if err := do(); err != nil {
			failures = append(failures, err.Error())
		}
	}
	json.NewEncoder(os.Stdout).Encode(failures)
}

// renameToAndFro is a child that renames a file away and back.
func renameToAndFro(args []string) {
	repeat(func() error {
		return errors.Join(os.Rename(args[0], args[1]), os.Rename(args[1], args[0]))
	})
}

// removeAndMake is a child that removes a file and makes it anew.
func removeAndMake(args []string) {
	repeat(func() error {
		if err := os.Remove(args[0]); err != nil {
			return err
		}
		return os.WriteFile(args[0], nil, 0o600)
	})
}

// TestWriteWhileNamesChange: programs append to a file, while another renames it,
// or removes it and makes it anew. No one is told of a conflict, for no agent is
// there; none waits for a notification, which the store's time limit would end with
// an input/output error; and after renames every line that was not refused is there.
func TestWriteWhileNamesChange(t *testing.T) {
	for _, other := range []string{"rename", "remove"} {
		t.Run(other, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/f": ""})
			s := mount(t, mem, writable(t))
			in, changed, _ := child(t, other, under(s, "/f"), under(s, "/g"))
			const programs = 2
			lines := testsize.Pick(500, 500, 10000)
			var running []io.Reader
			for p := range programs {
				_, out, _ := child(t, "lines", under(s, "/f"), fmt.Sprint(p), fmt.Sprint(lines))
				running = append(running, out)
			}
			refused := 0
			for p, out := range running {
				failures := failuresOf(t, out)
				refused += len(failures)
				for _, failure := range failures {
					if !strings.Contains(failure, "no such file") {
						t.Errorf("program %d: %s", p, failure)
					}
				}
			}
			in.Close()
			for _, failure := range failuresOf(t, changed) {
				t.Errorf("%s: %s", other, failure)
			}
			if kept := s.Counters().Conflicts; kept > 0 {
				t.Errorf("%d edits were kept aside", kept)
			}
			text := stored(t, mem)["/f"]
			if left := strings.Count(text, "\n"); other == "rename" && left != programs*lines-refused {
				t.Errorf("%d lines are left of %d, %d were refused", left, programs*lines, refused)
			}
		})
	}
}

// TestAppendWithAgent: a program and an agent append to one file. What either was
// told is done is there, and what it was refused at its close is kept aside. It is
// refused at its opening only where the agent is quicker twice.
func TestAppendWithAgent(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": ""})
	s := mount(t, mem, writable(t))
	lines := testsize.Pick(100, 100, 2000)
	_, out, _ := child(t, "lines", under(s, "/f"), "p", fmt.Sprint(lines))
	told := make(chan []string)
	go func() {
		defer close(told)
		told <- failuresOf(t, out)
	}()
	agent, refused := 0, []string{}
	for running := true; running; {
		if agent == 5*lines { // more would only make the file large
			refused = <-told
			break
		}
		select {
		case refused = <-told:
			running = false
		default:
			f, err := vfs.Read(t.Context(), mem, "/f")
			if err == nil {
				_, err = vfs.Write(t.Context(), mem, "/f", f.Content+fmt.Sprintf("agent-%d\n", agent), f.Revision)
			}
			switch {
			case err == nil:
				agent++
			case !errors.Is(err, vfs.ErrConflict):
				t.Fatal(err)
			}
		}
	}
	closing := 0
	for _, failure := range refused {
		switch {
		case !strings.Contains(failure, "stale file handle"):
			t.Error(failure)
		case strings.HasPrefix(failure, "close "):
			closing++
		}
	}
	if kept := s.Counters().Conflicts; kept != uint64(closing) {
		t.Errorf("%d edits were kept aside, %d refused at their close", kept, closing)
	}
	text := stored(t, mem)["/f"]
	if got, want := strings.Count(text, "\n"), agent+lines-len(refused); got != want {
		t.Errorf("%d lines are left of %d", got, want)
	}
	t.Logf("%d lines of the agent, %d of the program, %d refused", agent, lines-len(refused), len(refused))
}

func failuresOf(t testing.TB, out io.Reader) (failures []string) {
	t.Helper()
	if err := json.NewDecoder(out).Decode(&failures); err != nil {
		t.Fatal(err)
	}
	return failures
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
			_, out, _ := child(t, "sync", under(s, "/f"), fmt.Sprint(testsize.Pick(200, 200, 5000)), how)
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

// TestClosedWithinACharacter: a program that gives a file to another one and closes it
// itself, while what was written ends within a character, takes nothing from that one.
func TestClosedWithinACharacter(t *testing.T) {
	mem := newMem(t, nil)
	s := mount(t, mem, writable(t))
	script := `mkfifo "$1/half" "$1/closed"; exec 3>f
{ printf 'caf\303'; echo >"$1/half"; read x <"$1/closed"; printf '\251 ol\303\251'; } >&3 &
read x <"$1/half"; exec 3>&-; echo >"$1/closed"; wait $!`
	if out, err := tryRun(t, "sh", "-c", `cd "$2" || exit; `+script, "sh", t.TempDir(), s.Dir()); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if got := stored(t, mem)["/f"]; got != "café olé" {
		t.Errorf("the store has %q", got)
	}
}

// TestEmptiedWhileAnotherStarts: a file that was emptied, and not a byte written yet, is not
// saved when the program that has it open starts another one, which closes what it is not
// to have.
func TestEmptiedWhileAnotherStarts(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "full"})
	s := mount(t, mem, writable(t))
	look := newLooker(t)
	if got := look.ask("empty", under(s, "/f")); got != "" {
		t.Fatal(got)
	}
	if got := look.ask("start", "true"); got != "" {
		t.Fatal(got)
	}
	if got := stored(t, mem)["/f"]; got != "full" {
		t.Errorf("the store has %q while it is open", got)
	}
	look.ask("close", under(s, "/f"))
	if got := stored(t, mem)["/f"]; got != "" {
		t.Errorf("the store has %q when it is closed", got)
	}
}

// TestEmptiedForAnother: a file that was emptied is not saved when the program that did so
// closes it, and has given it to another one that has not written yet.
func TestEmptiedForAnother(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "full"})
	s := mount(t, mem, writable(t))
	fifo := filepath.Join(t.TempDir(), "fifo")
	script := `mkfifo "$1"; exec 3>"$2"; { read x <"$1"; echo text; } >&3 & exec 3>&-; echo closed; read x; echo >"$1"; wait $!`
	cmd := exec.Command("sh", "-c", script, "sh", fifo, under(s, "/f"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "closed\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if got := stored(t, mem)["/f"]; got != "full" {
		t.Errorf("the store has %q while the other has it open", got)
	}
	in.Close()
	if err := cmd.Wait(); err != nil || stored(t, mem)["/f"] != "text\n" {
		t.Errorf("%v, the store has %q", err, stored(t, mem)["/f"])
	}
}

// TestNothingIsExecutable: the mode has no such bit, and access says so.
func TestNothingIsExecutable(t *testing.T) {
	s := mount(t, newMem(t, map[string]string{"/f": "old"}), writable(t))
	if out, err := shell(t, s.Dir(), "test -r f && test -w f && ! test -x f && echo new >f && ! test -x f && test -x ."); err != nil {
		t.Errorf("%v %s", err, out)
	}
}
