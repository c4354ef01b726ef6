package vfstest

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// fixture is one way to reach the backend. The rules see only the view.
type fixture struct {
	name string
	// prefix is where the view's root lies in the backend and in the composite
	// around it; it makes the longest path of the view shorter.
	prefix string
	// decoys are further files of the backend, which the view must not show.
	decoys map[string]string
	// seedPrefix is the part of prefix that seeds in the backend have.
	seedPrefix string
	view       func(t *testing.T, b vfs.Backend) vfs.Backend
	// readOnly says that only the backend itself can be written.
	readOnly bool
}

// at is where the view lies in the fixtures that have a prefix. No rule uses a
// path that starts with it.
const at = "/~s"

// outside are decoys around the subtree at, next to it in order.
var outside = map[string]string{
	"/a": "decoy", "/~/x": "decoy", at: "decoy", at + "-": "decoy", at + "-/x": "decoy", at + "0": "decoy",
	at + "0/x": "decoy", at + "\U0010ffff/x": "decoy", "/~t": "decoy",
}

var fixtures = []fixture{
	{name: "bare", view: func(_ *testing.T, b vfs.Backend) vfs.Backend { return b }},
	{name: "route", prefix: at, view: func(t *testing.T, b vfs.Backend) vfs.Backend {
		return sub(t, route(t, memory(t, outside), b), at)
	}},
	{name: "default", decoys: map[string]string{at: "decoy", at + "/a": "decoy", at + "/\U0010ffff/b": "decoy"},
		view: func(t *testing.T, b vfs.Backend) vfs.Backend { return route(t, b, memory(t, nil)) }},
	{name: "sub", prefix: at, seedPrefix: at, decoys: outside,
		view: func(t *testing.T, b vfs.Backend) vfs.Backend { return sub(t, b, at) }},
	{name: "readonly", readOnly: true, view: func(_ *testing.T, b vfs.Backend) vfs.Backend { return wrap.ReadOnly(b) }},
}

func memory(t *testing.T, files map[string]string) vfs.Backend {
	t.Helper()
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func route(t *testing.T, def, below vfs.Backend) vfs.Backend {
	t.Helper()
	b, err := routefs.New(def, []routefs.Route{{Prefix: at, Backend: below}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sub(t *testing.T, b vfs.Backend, dir string) vfs.Backend {
	t.Helper()
	view, err := wrap.Sub(b, dir)
	if err != nil {
		t.Fatal(err)
	}
	return view
}
