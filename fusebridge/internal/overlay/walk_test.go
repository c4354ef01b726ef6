//go:build linux

package overlay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// paged is a store in which something happens in the middle of a walk.
type paged struct {
	*memfs.FS
	middle func()
}

func (p *paged) List(ctx context.Context, dir string, o vfs.ListOptions) (vfs.Page, error) {
	if then := p.middle; then != nil && o.After != "" {
		p.middle = nil
		then()
	}
	return p.FS.List(ctx, dir, o)
}

// TestWalkMeanwhile: what begins to show again while a walk is under way, which passed
// its path before, stays.
func TestWalkMeanwhile(t *testing.T) {
	for name, do := range map[string]func(k *kernel) (begin, middle func()){
		"an edit is given up": func(k *kernel) (func(), func()) {
			var f file
			return func() {
					f = k.must("/a", appendTo)
					f.write("y")
				}, func() {
					f.write("\xff")
					f.close()
				}
		},
		"renamed away and back": func(k *kernel) (func(), func()) {
			return func() { k.rename("/a", "/a~") }, func() { k.rename("/a~", "/a") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"/a": "x"}
			for n := range 300 { // more than a page
				files[fmt.Sprintf("/f%03d", n)] = ""
			}
			s := &paged{FS: newMem(t, files)}
			k := newKernel(t, s, overlay.Options{})
			begin, middle := do(k)
			begin()
			s.middle = middle
			if err := k.o.Fill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.middle != nil {
				t.Fatal("the walk had no middle")
			}
			if got := k.text("/a"); got != "x" {
				t.Errorf("it shows %q", got)
			}
		})
	}
}
