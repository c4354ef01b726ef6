package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func storeOf(t *testing.T, files map[string]string) *storeurl.Store {
	t.Helper()
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &storeurl.Store{Backend: b, Spec: storeurl.Spec{URL: storeurl.URL{Scheme: storeurl.Mem}}}
}

func contentOf(t *testing.T, s *storeurl.Store, path string) string {
	t.Helper()
	f, err := vfs.Read(t.Context(), s.Backend, path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		t.Fatal(err)
	}
	return f.Content
}

// A file that someone changes while it is moved stays, and no text is lost.
func TestMoveOfAChangedFile(t *testing.T) {
	for _, c := range []struct {
		there, say, want string // at the new path: before, said, after
	}{
		{"", "so it was not moved", ""},
		{"old", "so it was left there", "text"},
	} {
		files := map[string]string{}
		if c.there != "" {
			files["/new"] = c.there
		}
		src, dst := storeOf(t, map[string]string{"/a": "text"}), storeOf(t, files)
		cmd := newMv()
		cmd.SetErr(new(strings.Builder))
		p := placer{cmd: cmd, src: src, dst: dst, force: true}
		made, err := p.put(t.Context(), move{"/a", "/new"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := putFile(t.Context(), src, "/a", "changed", true); err != nil {
			t.Fatal(err)
		}
		o := placeOptions{remove: true}
		if err := o.removeOld(t.Context(), src, dst, made); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("it is said: %v, want %q", err, c.say)
		}
		if got := contentOf(t, src, "/a"); got != "changed" {
			t.Errorf("what was changed is %q", got)
		}
		if got := contentOf(t, dst, "/new"); got != c.want {
			t.Errorf("at the new path is %q, want %q", got, c.want)
		}
	}
}

// Of two who force at once each replaces a revision of its own, and one that was there.
func TestForceAtOnce(t *testing.T) {
	s := storeOf(t, map[string]string{"/a": "first"})
	var mu sync.Mutex
	made, replaced := map[vfs.Revision]bool{}, map[vfs.Revision]bool{}
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 50 {
				info, old, err := putFile(t.Context(), s, "/a", fmt.Sprint(n, i), true)
				if err != nil {
					if !strings.Contains(err.Error(), "too often") {
						t.Error(err)
					}
					continue
				}
				mu.Lock()
				if replaced[old] {
					t.Errorf("%s was replaced twice", old)
				}
				made[info.Revision], replaced[old] = true, true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	unknown := 0
	for old := range replaced {
		if !made[old] {
			unknown++ // the first one
		}
	}
	if unknown != 1 {
		t.Errorf("%d revisions were replaced that no one made, want the first", unknown)
	}
}

func TestDraftName(t *testing.T) {
	for path, want := range map[string]string{
		"/notes/today.md": "today.md", "/.vimrc": "vimrc", "/-c": "c", "/a/..x": "x", "/a b$(x)": "a_b__x_", "/...": "text", "/é😀.md": "é_.md",
		"/" + strings.Repeat("é", 200) + ".md": strings.Repeat("é", 48) + ".md",
	} {
		if got := draftName(path); got != want {
			t.Errorf("%s is edited as %q, want %q", path, got, want)
		}
	}
}
