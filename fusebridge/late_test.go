//go:build linux

package fusebridge_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// lateStores are stores that hear of what others change an hour later, each with a way
// for others to change it.
func lateStores(t *testing.T) map[string][2]vfs.Backend {
	file := filepath.Join(t.TempDir(), "f.db")
	open := func() vfs.Backend {
		s, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{PollInterval: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	mem := newMem(t, nil)
	return map[string][2]vfs.Backend{"sqlite": {open(), open()}, "no watch": {silent{mem}, mem}}
}

// TestChangedByOthers: who opens a file after another process changed it sees the
// change, or the text before it, and never an error; and who appends to it loses
// nothing.
func TestChangedByOthers(t *testing.T) {
	for name, stores := range lateStores(t) {
		for _, readWrite := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/rw %v", name, readWrite), func(t *testing.T) {
				here, other := stores[0], stores[1]
				write(t, other, "/f", "0\n")
				opts := writable(t)
				opts.ReadWrite, opts.Poll = readWrite, time.Hour
				s := mount(t, here, opts)
				look := newLooker(t)
				before, want := `"0\n"`, "0\n"
				for n := range 30 {
					text := fmt.Sprintln(n, body(n, 1+n%7))
					write(t, other, "/f", text)
					if got := look.ask("read", under(s, "/f")); got != quoted(text) && got != before {
						t.Fatalf("change %d: %.100s", n, got)
					}
					before, want = quoted(text), text
				}
				if !readWrite {
					return
				}
				for n := range 10 {
					line := fmt.Sprintln("theirs", n)
					want += line
					write(t, other, "/f", want)
					if out, err := shell(t, s.Dir(), fmt.Sprintf("echo ours %d >>f", n)); err != nil {
						t.Fatalf("append %d: %v %s", n, err, out)
					}
					want += fmt.Sprintln("ours", n)
					if got := stored(t, other)["/f"]; got != want {
						t.Fatalf("append %d: the store has %.300q, want %.300q", n, got, want)
					}
				}
				if c := s.Counters(); c.Conflicts > 0 {
					t.Errorf("%d edits were kept aside", c.Conflicts)
				}
			})
		}
	}
}

// TestOpenKeepsBytes: what is open is read to its end, though others replace it in a
// store that does not tell what it replaced.
func TestOpenKeepsBytes(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": body(1, 900)})
	s := mount(t, silent{mem}, &fusebridge.Options{Poll: time.Hour})
	look := newLooker(t)
	look.ask("open", under(s, "/f"))
	write(t, mem, "/f", body(2, 5000))
	if got := look.ask("rest", under(s, "/f")); got != quoted(body(1, 900)) {
		t.Errorf("the holder reads %.100s", got)
	}
}

// TestOpenIsNotAsked: a store whose changes are told is never asked at an opening.
func TestOpenIsNotAsked(t *testing.T) {
	s := mount(t, newMem(t, map[string]string{"/f": "x", "/g": "y"}), nil)
	run(t, "sh", "-c", "cd "+s.Dir()+" && cat f g f g")
	if got := s.Counters().Requests["open"]; got > 1 {
		t.Errorf("it was asked at %d openings", got)
	}
}

// TestAppendBesideAnIdleWriter: who appends to a file that another process changed
// loses nothing, though a third has it open for writing and typed nothing.
func TestAppendBesideAnIdleWriter(t *testing.T) {
	for name, stores := range lateStores(t) {
		t.Run(name, func(t *testing.T) {
			here, other := stores[0], stores[1]
			write(t, other, "/f", "0\n")
			opts := writable(t)
			opts.Poll = time.Hour
			s := mount(t, here, opts)
			out := run(t, "sh", "-c", "cd "+s.Dir()+" && exec 3<>f && cat f && echo one >>f && cat f")
			if out != "0\n0\none\n" {
				t.Fatalf("the mount shows %q", out)
			}
			hold, err := os.OpenFile(under(s, "/f"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			write(t, other, "/f", "0\none\ntheirs\n")
			if out, err := shell(t, s.Dir(), "echo ours >>f"); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			if got, want := stored(t, other)["/f"], "0\none\ntheirs\nours\n"; got != want {
				t.Errorf("the store has %q, want %q", got, want)
			}
			if c := s.Counters(); c.Conflicts > 0 {
				t.Errorf("%d edits were kept aside", c.Conflicts)
			}
		})
	}
}

// writeElsewhere is a child that has a database open and writes to it: for each line of a
// path and two numbers it replaces that file by a body of these, and says so.
func writeElsewhere(args []string) {
	ctx := context.Background()
	store, err := sqlitefs.Open(ctx, args[0], &sqlitefs.Options{Relaxed: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var path string
		var n, long int
		_, err := fmt.Sscan(lines.Text(), &path, &n, &long)
		if err == nil {
			var info vfs.Info
			if info, err = store.Stat(ctx, path); err == nil {
				_, err = store.Write(ctx, path, body(n, long), info.Revision)
			}
		}
		fmt.Println(err)
	}
}

// TestFreshElsewhere: who opens a file after another process has replaced it in a
// database reads that, also where the mount has sent the file ahead, and knew its
// revision a moment before.
func TestFreshElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	store, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{Relaxed: true, PollInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range manyNames() {
		write(t, store, "/m/"+name, body(0, 1))
	}
	s := mount(t, store, nil)
	in, out, _ := child(t, "elsewhere", file)
	look := newLooker(t)
	stop := startHammers(t, s.Dir(), 2, false)
	stale := 0
	for n := range testsize.Pick(150, 300, 10_000) {
		path := "/m/" + manyNames()[n*7%manyFiles]
		text := body(n, 1+n%50)
		fmt.Fprintln(in, path, n, 1+n%50)
		if answer, err := out.ReadString('\n'); err != nil || answer != "<nil>\n" {
			t.Fatalf("the other process says %q, %v", answer, err)
		}
		if got := look.ask("read", under(s, path)); got != quoted(text) {
			if stale++; stale < 5 {
				t.Errorf("change %d: %.100s, want %.100q", n, got, text)
			}
		}
	}
	stop()
	if c := s.Counters(); c.Ahead == 0 {
		t.Errorf("nothing was sent ahead: %+v", c)
	} else {
		t.Logf("%d stale; %+v", stale, c)
	}
}
