//go:build linux

package view_test

import (
	"context"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
)

// TestStreamWinsOverWalk: what the stream reports while a walk runs is newer than what
// the walk found, for a change, a new file and a removal.
func TestStreamWinsOverWalk(t *testing.T) {
	h := newHooked(t, map[string]string{"/f": "old", "/gone": "x"})
	once := sync.OnceFunc(func() {
		agent(t, h.FS, "/f", "new")
		agent(t, h.FS, "/made", "made")
		info, _ := vfs.Stat(t.Context(), h.FS, "/gone")
		if err := vfs.Remove(t.Context(), h.FS, "/gone", info.Revision); err != nil {
			t.Error(err)
		}
	})
	h.listed = once
	v := newView(t, h)
	for path, want := range map[string]string{"/f": "new", "/made": "made", "/gone": syscall.ENOENT.Error()} {
		if got := text(v, path); got != want {
			t.Errorf("%s shows %q, want %q", path, got, want)
		}
	}
}

// delayed is a store whose events come when the test lets them.
type delayed struct {
	*hooked
	tell func(vfs.Event) // as Watch got it
}

func (d *delayed) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	d.tell = fn
	fn(vfs.Event{Path: dir, Overflow: true})
	<-ctx.Done()
	return ctx.Err()
}

// TestWalkAheadOfStream: when a walk has found a revision, events of those before it, which
// are on their way, show nothing older; what comes after it shows, also when a gap of
// the stream has swallowed what was between.
func TestWalkAheadOfStream(t *testing.T) {
	for _, gap := range []bool{false, true} {
		d := &delayed{hooked: newHooked(t, map[string]string{"/f": "1"})}
		var events []vfs.Event
		write := func(text string) {
			old, err := vfs.Read(t.Context(), d.FS, "/f")
			if err != nil {
				t.Fatal(err)
			}
			info, err := vfs.Write(t.Context(), d.FS, "/f", text, old.Revision)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, vfs.Event{Path: "/f", Info: info, Old: &old})
		}
		write("2")
		write("3")
		v := newView(t, d)
		for _, e := range events {
			d.tell(e)
			if got := text(v, "/f"); got != "3" {
				t.Errorf("after an event of revision %s shows %q", e.Info.Revision, got)
			}
		}
		events = nil
		write("4")
		write("5")
		if err := v.Fill(t.Context()); err != nil { // the walk finds the fifth
			t.Fatal(err)
		}
		if gap {
			d.tell(vfs.Event{Path: "/", Overflow: true})
			write("6") // is not told
		} else {
			for _, e := range events {
				if d.tell(e); text(v, "/f") != "5" {
					t.Errorf("after an event of revision %s it shows %q", e.Info.Revision, text(v, "/f"))
				}
			}
		}
		write("7")
		if d.tell(events[len(events)-1]); text(v, "/f") != "7" {
			t.Errorf("gap %v: after the last event it shows %q", gap, text(v, "/f"))
		}
	}
}

// TestEventThatDoesNotSayWhatItReplaced: of a new file, and of another process, an event
// does not say what was there. Where a walk is ahead of it, the store is asked; where
// that does not answer, or a gap of the stream is between, the event shows.
func TestEventThatDoesNotSayWhatItReplaced(t *testing.T) {
	d := &delayed{hooked: newHooked(t, map[string]string{"/stays": "x"})}
	var events []vfs.Event
	write := func(text string) {
		old, _ := vfs.Stat(t.Context(), d.FS, "/f")
		info, err := vfs.Write(t.Context(), d.FS, "/f", text, old.Revision)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, vfs.Event{Path: "/f", Info: info})
	}
	write("new")
	write("2")
	v := newView(t, d)
	away := false
	d.stat = func() error {
		if away {
			return vfs.ErrUnavailable
		}
		return nil
	}
	tell := func(e vfs.Event, want string) {
		t.Helper()
		if d.tell(e); text(v, "/f") != want {
			t.Errorf("after an event of revision %q shows %q, want %q", e.Info.Revision, text(v, "/f"), want)
		}
	}
	tell(events[0], "2")
	tell(events[1], "2")
	write("3") // what shows is as old as the events are by now
	tell(events[2], "3")
	if err := v.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	write("4")
	write("5")
	if err := v.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	tell(events[3], "5")
	write("6")
	tell(events[3], "6") // the event for that comes later
	tell(events[4], "6")
	if err := vfs.Remove(t.Context(), d.FS, "/f", events[5].Info.Revision); err != nil {
		t.Fatal(err)
	}
	tell(events[4], syscall.ENOENT.Error())
	tell(vfs.Event{Path: "/f", Info: vfs.Info{Path: "/f"}}, syscall.ENOENT.Error())
	write("7")
	if err := v.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	write("8")
	away = true
	d.tell(events[7])
	away = false
	if got := text(v, "/f"); got != "8" {
		t.Errorf("where the store is not asked, shows %q", got)
	}
}

// TestReaderIsAheadOfEvent: while the store is asked what an event does not say, a reader
// may find something newer, which stays.
func TestReaderIsAheadOfEvent(t *testing.T) {
	d := &delayed{hooked: newHooked(t, map[string]string{"/f": "1"})}
	d.route = func(string) (vfs.Route, error) { return vfs.Route{Prefix: "/", Shared: true}, nil }
	v := newView(t, d)
	entry, _ := lookup(v, "/f")
	if got := readNode(v, entry.NodeId, nil); got != "1" {
		t.Fatal(got)
	}
	agent(t, d.FS, "/f", "2")
	info, err := vfs.Stat(t.Context(), d.FS, "/f")
	if err != nil {
		t.Fatal(err)
	}
	d.stat = func() error {
		d.stat = nil
		agent(t, d.FS, "/f", "3")
		in := fuse.OpenIn{InHeader: fuse.InHeader{NodeId: entry.NodeId}}
		if status := v.Open(nil, &in, &fuse.OpenOut{}); status != fuse.Status(syscall.ESTALE) {
			t.Errorf("opening what is replaced: %v", status)
		}
		return nil
	}
	d.tell(vfs.Event{Path: "/f", Info: info})
	if got := text(v, "/f"); got != "3" || d.stat != nil {
		t.Errorf("shows %q", got)
	}
}

// TestEventsAfterAReader: who has asked the store is ahead of the events of what it found,
// and of what that replaced: they take no one back.
func TestEventsAfterAReader(t *testing.T) {
	d := &delayed{hooked: newHooked(t, map[string]string{"/f": "1"})}
	d.route = func(string) (vfs.Route, error) { return vfs.Route{Prefix: "/", Shared: true}, nil }
	v := newView(t, d)
	entry, _ := lookup(v, "/f")
	var events []vfs.Event
	for _, text := range []string{"2", "3"} {
		old, err := vfs.Read(t.Context(), d.FS, "/f")
		if err != nil {
			t.Fatal(err)
		}
		agent(t, d.FS, "/f", text)
		info, err := vfs.Stat(t.Context(), d.FS, "/f")
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, vfs.Event{Path: "/f", Info: info, Old: &old})
	}
	in := fuse.OpenIn{InHeader: fuse.InHeader{NodeId: entry.NodeId}}
	if status := v.Open(nil, &in, &fuse.OpenOut{}); status != fuse.Status(syscall.ESTALE) {
		t.Errorf("opening what is replaced: %v", status)
	}
	for _, e := range events {
		d.tell(e)
		if got := text(v, "/f"); got != "3" {
			t.Errorf("after the event of %s it shows %q", e.Info.Revision, got)
		}
	}
}

// TestEventAfterOneThatIsNeverTold: a store that finds changes of other processes now and
// then tells only of the last one, so an event may have replaced what no one has heard of.
func TestEventAfterOneThatIsNeverTold(t *testing.T) {
	d := &delayed{hooked: newHooked(t, map[string]string{"/f": "1"})}
	v := newView(t, d)
	agent(t, d.FS, "/f", "2")
	if err := v.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	agent(t, d.FS, "/f", "3")
	old, err := vfs.Read(t.Context(), d.FS, "/f")
	if err != nil {
		t.Fatal(err)
	}
	agent(t, d.FS, "/f", "4")
	info, err := vfs.Stat(t.Context(), d.FS, "/f")
	if err != nil {
		t.Fatal(err)
	}
	d.tell(vfs.Event{Path: "/f", Info: info, Old: &old})
	if got := text(v, "/f"); got != "4" {
		t.Errorf("it shows %q", got)
	}
}
