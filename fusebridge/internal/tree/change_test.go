package tree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// newTree shows files, all of whose names the kernel knows, at the revision "1".
func newTree(paths ...string) *tree.Tree {
	t := tree.New(time.Unix(1, 0), false)
	t.Lock() // the tests are alone
	for _, path := range paths {
		t.Show(info(path, "1"), nil, tree.Now())
	}
	t.Settle()
	for f := range t.Files() {
		t.RefFile(f)
		for d := t.DirAt(f.Path[:max(1, strings.LastIndexByte(f.Path, '/'))]); d.Parent != nil; d = d.Parent {
			if !d.Known() {
				t.RefDir(d)
			}
		}
	}
	return t
}

func info(path, rev string) vfs.Info {
	return vfs.Info{Path: path, Revision: vfs.Revision(rev), Size: int64(len(rev)), ModTime: time.Unix(2, 0)}
}

// list returns the names of a directory, sorted.
func list(d *tree.Dir) []string {
	names := []string{}
	for row := range d.Rows(0) {
		if !row.Self {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return names
}

// told writes notes down with the paths of directories.
func told(t *tree.Tree, c *tree.Changes) []string {
	kinds := map[tree.Kind]string{tree.DropName: "drop", tree.NameGone: "gone", tree.DropList: "list"}
	notes := []string{}
	for _, n := range c.Notes {
		path := "?"
		if d := t.DirByID(n.ID); d != nil {
			path = d.Path
		}
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("%s %s %s", kinds[n.Kind], path, n.Name)))
	}
	return notes
}

// TestChanges: each change of what is shown, and what the kernel is to be told of it, in
// order: names before the listings that they are in.
func TestChanges(t *testing.T) {
	tests := []struct {
		name   string
		files  []string
		change func(t *tree.Tree, c *tree.Changes)
		notes  []string
		root   []string // what the root lists then
	}{
		{"replaced", []string{"/f"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/f", "2"), nil, c) }, []string{"drop / f"}, []string{"f"}},
		{"shown as it is", []string{"/f"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/f", "1"), nil, c) }, []string{}, []string{"f"}},
		{"made", []string{"/f"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/g", "1"), nil, c) }, []string{"drop / g", "list /"}, []string{"f", "g"}},
		{"removed", []string{"/f", "/g"}, func(t *tree.Tree, c *tree.Changes) { t.Hide("/f", nil, c) }, []string{"gone / f", "list /"}, []string{"g"}},
		{"removed, which is not there", []string{"/f"}, func(t *tree.Tree, c *tree.Changes) { t.Hide("/x/y", nil, c) }, []string{}, []string{"f"}},
		{"made in a new directory, whose name is not dropped", []string{"/f"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/d/e/g", "1"), nil, c) }, []string{"list /"}, []string{"d", "f"}},
		{"the last of a directory", []string{"/f", "/d/e/g"}, func(t *tree.Tree, c *tree.Changes) { t.Hide("/d/e/g", nil, c) },
			[]string{"gone /d/e g", "list /d/e", "gone /d e", "list /d", "gone / d", "list /"}, []string{"f"}},
		{"the last of a directory that stays", []string{"/d/g"}, func(t *tree.Tree, c *tree.Changes) { t.DirAt("/d").Stays = true; t.Hide("/d/g", nil, c) },
			[]string{"gone /d g", "list /d"}, []string{"d"}},
		{"a file where a directory is", []string{"/x/y"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/x", "1"), nil, c) }, []string{"drop / x@file", "list /"}, []string{"x", "x@file"}},
		{"a directory where a file is", []string{"/x"}, func(t *tree.Tree, c *tree.Changes) { t.Show(info("/x/y", "1"), nil, c) }, []string{"drop / x", "drop / x@file", "list /"}, []string{"x", "x@file"}},
		{"moved", []string{"/f", "/d/g"}, func(t *tree.Tree, c *tree.Changes) {
			f := t.FileAt("/f")
			t.Take(f, c)
			t.Put(f, t.DirAt("/d"), "h", "/d/h", nil, c)
		}, []string{"gone / f", "list /", "drop /d h", "list /d"}, []string{"d"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shown, c := newTree(tt.files...), tree.Now()
			tt.change(shown, c)
			if diff := cmp.Diff(tt.notes, told(shown, c)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.root, list(shown.DirAt("/"))); diff != "" {
				t.Errorf("the root lists (-want +got):\n%s", diff)
			}
			var files, bytes int64
			for f := range shown.Files() {
				files, bytes = files+1, bytes+f.Size
			}
			if gotFiles, gotBytes := shown.Usage(); gotFiles != files || gotBytes != bytes {
				t.Errorf("it counts %d files, %d bytes; there are %d, %d", gotFiles, gotBytes, files, bytes)
			}
		})
	}
}

// TestSuperseded: what the kernel refers to keeps its bytes when it is replaced, the
// right ones, until it is forgotten.
func TestSuperseded(t *testing.T) {
	shown := newTree("/f", "/g", "/h")
	f, g, h := shown.FileAt("/f"), shown.FileAt("/g"), shown.FileAt("/h")
	shown.Forget(h.ID, 1)
	for _, path := range []string{"/f", "/h"} {
		shown.Show(info(path, "2"), &vfs.File{Info: info(path, "1"), Content: "old"}, tree.Now())
	}
	shown.Show(info("/g", "2"), &vfs.File{Info: info("/g", "other"), Content: "wrong"}, tree.Now())
	if !f.Superseded || f.Pinned == nil || *f.Pinned != "old" {
		t.Errorf("the bytes are not kept: %+v", f)
	}
	if !g.Superseded || g.Pinned != nil {
		t.Errorf("bytes of another revision are kept: %+v", g)
	}
	if h.Pinned != nil {
		t.Errorf("bytes are kept that no one can ask for: %+v", h)
	}
	if shown.FileByID(f.ID) != f {
		t.Error("the kernel's node is lost")
	}
	if shown.Forget(f.ID, 1); f.Pinned != nil || shown.FileByID(f.ID) != nil {
		t.Errorf("what is forgotten is kept: %+v", f)
	}
}

// TestRows: joined pages are the whole listing, whatever their size, though names come
// and go between them; each that stays appears once, and none that came later.
func TestRows(t *testing.T) {
	var paths, stays []string
	for i := range 200 {
		paths = append(paths, fmt.Sprintf("/d/f%03d", i))
		if i%3 > 0 {
			stays = append(stays, fmt.Sprintf("f%03d", i))
		}
	}
	stays = append(stays, "f001@file")
	slices.Sort(stays)
	for _, size := range []int{1, 2, 3, 7, 64, 1000} {
		shown := newTree(append(paths, "/d/f001/below")...)
		d := shown.DirAt("/d")
		var got []string
		next, n := uint64(0), 0
		for more := true; more && n < 1000; n++ {
			more = false
			left := size
			for row := range d.Rows(next) {
				if left--; left < 0 {
					more = true
					break
				}
				next = row.Next
				if !row.Self {
					got = append(got, row.Name)
				}
			}
			for i := n * 3; i < 200 && i < n*3+9; i += 3 {
				shown.Hide(fmt.Sprintf("/d/f%03d", i), nil, tree.Now())
			}
			shown.Show(info(fmt.Sprintf("/d/late%d", n), "1"), nil, tree.Now())
		}
		seen := map[string]int{}
		for _, name := range got {
			seen[name]++
			if seen[name] > 1 || strings.HasPrefix(name, "late") {
				t.Errorf("pages of %d: %s appears %d times", size, name, seen[name])
			}
		}
		for _, name := range stays {
			if seen[name] != 1 {
				t.Errorf("pages of %d: %s appears %d times", size, name, seen[name])
			}
		}
	}
}

// TestMovedDirectory: the inode number of a directory that has another path by now is no
// other's, until neither a name nor the kernel leads to that directory any more.
func TestMovedDirectory(t *testing.T) {
	tr := newTree("/stays")
	root := tr.DirAt("/")
	c := tree.Now()
	mkdir := func() *tree.Dir {
		d := tr.Mkdir(root, "a", "/a", c)
		d.Stays = true
		tr.RefDir(d)
		return d
	}
	first := mkdir()
	tr.MoveDir(first, root, "b", "/b", c)
	second := mkdir()
	if second.Ino == first.Ino {
		t.Errorf("two directories have the number %d", first.Ino)
	}
	tr.Rmdir(second, c)
	tr.Forget(second.ID, 1)
	tr.Rmdir(first, c)
	if third := mkdir(); third.Ino == first.Ino {
		t.Errorf("a new directory has the number of one that is open")
	} else {
		tr.Rmdir(third, c)
		tr.Forget(third.ID, 1)
	}
	tr.Forget(first.ID, 1)
	for range 100 { // with the kernel's reference gone before the name, and after it
		d := mkdir()
		tr.MoveDir(d, root, "b", "/b", c)
		tr.Forget(d.ID, 1)
		tr.Rmdir(d, c)
	}
	if n := tr.Moved(); n != 0 {
		t.Errorf("%d inode numbers are kept for nothing", n)
	}
	if again := mkdir(); again.Ino != first.Ino {
		t.Errorf("the number that the path gives is free, and it has %d, not %d", again.Ino, first.Ino)
	}
}
