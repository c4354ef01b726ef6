package storeurl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Route puts a store at a directory of another.
type Route struct {
	Prefix   string // canonical, not "/"
	URL      URL
	ReadOnly bool
}

// ParseRoute reads a route in the form /prefix=URL or /prefix=URL,ro. An "=" in
// the prefix is written %3D. Its error is one sentence.
func ParseRoute(raw string) (Route, error) {
	prefix, target, ok := strings.Cut(raw, "=")
	if !ok || !strings.HasPrefix(prefix, "/") {
		return Route{}, fmt.Errorf("%q is no route: write /prefix=URL or /prefix=URL,ro", masked(raw))
	}
	prefix, err := decode(prefix)
	if err != nil {
		return Route{}, fmt.Errorf("route %q: %w", masked(raw), err)
	}
	clean, err := vpath.Clean(prefix)
	if err == nil && clean == "/" {
		err = errors.New("a route cannot be at /, which is the store itself")
	}
	if err != nil {
		return Route{}, fmt.Errorf("route %q: %w", masked(raw), err)
	}
	target, option, hasOption := cutOption(target)
	if hasOption && option != "ro" {
		return Route{}, fmt.Errorf("route %q: behind the comma only ro can stand (write , in a name as %%2C), not %q", masked(raw), option)
	}
	u, err := Parse(target)
	if err != nil {
		return Route{}, fmt.Errorf("route %q: %w", masked(raw), err)
	}
	return Route{Prefix: clean, URL: u, ReadOnly: hasOption}, nil
}

// String returns the route in the form that ParseRoute reads.
func (r Route) String() string {
	s := strings.ReplaceAll(Escape(r.Prefix), "=", "%3D") + "=" + r.URL.String()
	if r.ReadOnly {
		s += ",ro"
	}
	return s
}
