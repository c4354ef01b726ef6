package routefs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// away is a store that cannot be reached until it is back.
type away struct {
	vfs.Backend
	back bool
}

func (a *away) Route(context.Context, string) (vfs.Route, error) {
	if !a.back {
		return vfs.Route{Prefix: "/"}, fmt.Errorf("%w: no agent answers", vfs.ErrUnavailable)
	}
	return vfs.Route{Prefix: "/", Writable: true, Shared: true}, nil
}

// A store that cannot be reached says so through every wrapper, by the route's
// name, and no one remembers it.
func TestRouteIsAway(t *testing.T) {
	gone := &away{Backend: teststore.Paths(t)}
	inner := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/in", Backend: gone})
	f := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/team", Backend: wrap.ReadOnly(inner)})
	sub, err := wrap.Sub(f, "/team")
	if err != nil {
		t.Fatal(err)
	}
	_, err = vfs.RouteOf(t.Context(), f, "/team/in/x")
	if want := "route /team/in/x: below /team: below /in: the store cannot be reached: no agent answers"; err == nil || err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	for _, tt := range []struct {
		name         string
		b            vfs.Backend
		path, prefix string
		writable     bool
	}{
		{"a route", inner, "/in/x", "/in", true},
		{"a route of a read-only view", f, "/team/in", "/team/in", false},
		{"a subtree", sub, "/in/x", "/in", false},
		{"a view of a route", wrap.ReadOnly(inner), "/in/x", "/in", false},
	} {
		gone.back = false
		route, err := vfs.RouteOf(t.Context(), tt.b, tt.path)
		if !errors.Is(err, vfs.ErrUnavailable) || vfs.Code(err) != "store" || route != (vfs.Route{Prefix: tt.prefix}) {
			t.Errorf("%s, away: %+v, %v", tt.name, route, err)
		}
		if _, err := vfs.RouteOf(t.Context(), tt.b, "/elsewhere"); err != nil {
			t.Errorf("%s, elsewhere: %v", tt.name, err)
		}
		gone.back = true
		if route, err := vfs.RouteOf(t.Context(), tt.b, tt.path); err != nil || route != (vfs.Route{Prefix: tt.prefix, Writable: tt.writable, Shared: true}) {
			t.Errorf("%s, back: %+v, %v", tt.name, route, err)
		}
	}
}
