//go:build linux

package fusebridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// TestRefusedContent: what cannot be committed as a whole leaves the store as it
// was, shows nothing of itself, and is kept aside as far as it was accepted.
func TestRefusedContent(t *testing.T) {
	tests := []struct {
		name, script string
		changed      map[string]string // beside /old
		aside        string            // what is kept, "" for nothing
	}{
		{name: "a new file of no text", script: `printf '\377' >new`},
		{name: "text, then none", script: `(printf 'text\n'; printf '\377') >new`, aside: "text\n"},
		{name: "none, then text", script: `(printf '\377'; /bin/true; echo text) >new`},
		{name: "a new file that is too long", script: `head -c 3000000 /dev/zero | tr '\0' x >new`, aside: strings.Repeat("x", 1<<20)},
		{name: "cp", script: `head -c 3000000 /dev/zero >"$TMPDIR/big"; cp "$TMPDIR/big" new`, aside: strings.Repeat("\x00", 1<<20)},
		{name: "replacing by no text", script: `printf '\377' >old`},
		{name: "appending no text", script: `printf '\377' >>old`},
		{name: "appending too much", script: `head -c 1048576 /dev/zero | tr '\0' x >>old`, aside: "-"},
		{name: "half a character", script: `printf 'a\343\201' >new; ! true`, aside: "a\xe3\x81"},
		{name: "half a character in place", script: `printf 'a\343\201' >old; ! true`, aside: "a\xe3\x81"},
		{name: "the halves of a character", script: `(printf '\343\201'; /bin/true; printf '\202') >new && ! true`,
			changed: map[string]string{"/new": "\u3042"}},
		{name: "and again", script: `printf '\377' >new; printf '\377' >old; echo good >new && echo better >old && ! true`,
			changed: map[string]string{"/new": "good\n", "/old": "better\n"}},
		{name: "an empty one", script: `touch new; : >new2; ! true`, changed: map[string]string{"/new": "", "/new2": ""}},
		{name: "beside another writer", script: `exec 3>>old; printf '\377' >>old; echo more >&3; ! true`, changed: map[string]string{"/old": "kept\nmore\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			mem := newMem(t, map[string]string{"/old": "kept\n"})
			before, err := vfs.Stat(t.Context(), mem, "/old")
			if err != nil {
				t.Fatal(err)
			}
			opts := writable(t)
			s := mount(t, mem, opts)
			if out, err := shell(t, s.Dir(), tt.script); err == nil {
				t.Errorf("%s succeeded: %s", tt.script, out)
			}
			want := map[string]string{"/old": "kept\n"}
			for path, text := range tt.changed {
				want[path] = text
			}
			look := newLooker(t)
			for path, text := range want {
				eventually(t, look, "read", under(s, path), quoted(text)) // its writer may not have been let go yet
			}
			if want["/new"] == "" && tt.changed == nil {
				eventually(t, look, "list", s.Dir(), "old")
			}
			if diff := cmp.Diff(want, stored(t, mem)); diff != "" {
				t.Errorf("the store differs (-want +got):\n%.2000s", diff)
			}
			if after, err := vfs.Stat(t.Context(), mem, "/old"); tt.changed["/old"] == "" && after.Revision != before.Revision {
				t.Errorf("/old has another revision: %v", err)
			}
			checkAside(t, s, opts, tt.aside)
		})
	}
}

// checkAside ends the mount and compares the one text that is to be kept aside;
// "-" stands for any, "" for none.
func checkAside(t *testing.T, s *fusebridge.Server, opts *fusebridge.Options, want string) {
	t.Helper()
	if err := s.Unmount(); err != nil {
		t.Error(err)
	}
	s.Wait()
	kept, err := filepath.Glob(filepath.Join(opts.StateDir, "conflicts", "*"))
	if err != nil || len(kept) > 1 || (len(kept) == 1) != (want != "") {
		t.Fatalf("kept aside: %q, %v; want %.40q", kept, err, want)
	}
	if want == "" {
		return
	}
	if data, err := os.ReadFile(kept[0]); err != nil || want != "-" && string(data) != want {
		t.Errorf("kept aside: %.40q, %v; want %.40q", data, err, want)
	}
}

// TestNothingWritable: a store that can only be read is not mounted for editing, an
// empty one included; a composite of which a part can be written is.
func TestNothingWritable(t *testing.T) {
	needFuse(t)
	mem := newMem(t, map[string]string{"/f": "x\n"})
	opts := writable(t)
	for name, b := range map[string]vfs.Backend{"a view": wrap.ReadOnly(mem), "empty": wrap.ReadOnly(newMem(t, nil))} {
		s, err := fusebridge.Mount(t.Context(), b, t.TempDir(), opts)
		if err == nil {
			s.Unmount()
			t.Errorf("%s was mounted for editing", name)
		} else if !strings.Contains(err.Error(), "nothing in this store can be written") {
			t.Errorf("%s: %v", name, err)
		}
	}
	routes, err := routefs.New(wrap.ReadOnly(mem), []routefs.Route{{Prefix: "/notes", Backend: newMem(t, map[string]string{"/n": ""})}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := mount(t, routes, opts)
	if out, err := shell(t, s.Dir(), "echo x >notes/n && ! echo x >f"); err != nil {
		t.Errorf("a composite: %v %s", err, out)
	}
}

// TestRedirectIsOneChange: a shell closes a file once before it writes it; the agent
// must see the content only, neither an empty file nor an emptied one.
func TestRedirectIsOneChange(t *testing.T) {
	mem := newMem(t, map[string]string{"/old": "kept\n"})
	s := mount(t, mem, writable(t))
	events, ready := make(chan string, 100), make(chan struct{})
	go vfs.Watch(t.Context(), mem, "/", func(e vfs.Event) {
		if e.Overflow {
			close(ready)
			return
		}
		events <- fmt.Sprintf("%s %d", e.Path, e.Info.Size)
	})
	<-ready
	if out, err := shell(t, s.Dir(), "echo four >old; echo three >new; : >old; (exec 3>new; printf x >&3)"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, want := range []string{"/old 5", "/new 6", "/old 0", "/new 1"} {
		if got := <-events; got != want {
			t.Errorf("the agent saw %s, want %s", got, want)
		}
	}
	if len(events) > 0 {
		t.Errorf("the agent saw more: %s", <-events)
	}
}
