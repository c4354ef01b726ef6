package storeurl

import (
	"fmt"
	"os"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
)

// Clash returns why files cannot be copied from s to dst: they are one store, or
// one lies inside the other, so that a copy would read what it has written or
// remove what it is still to read. Its error is one sentence; nil when all is
// well. A folder may hold the database that it is copied to or from.
func (s Spec) Clash(dst Spec) error {
	for _, r := range s.Routes {
		if err := clash(r.URL, dst.URL); err != nil {
			return fmt.Errorf("route %s: %w", r.Prefix, err)
		}
	}
	if len(s.Routes) > 0 && sameStore(s.URL, dst.URL) {
		return nil // takes the files of the routes into the store itself
	}
	return clash(s.URL, dst.URL)
}

func clash(src, dst URL) error {
	if sameStore(src, dst) {
		return fmt.Errorf("%s and %s are the same store, name another one", src, dst)
	}
	from, to := folderOf(src), folderOf(dst)
	switch {
	case from == "" || to == "" || dst.Scheme == Mem || dst.Scheme == Static: // nothing is written there
		return nil
	case src.Scheme == Badger && dst.Scheme == Badger && hostpath.Same(from, to):
		return nil // two namespaces
	case hostpath.Within(to, from) && (src.Scheme != Dir || dst.Scheme == Dir):
		return fmt.Errorf("%s lies inside of %s, so it would be copied into itself: name a place outside", dst, src)
	case hostpath.Within(from, to) && (dst.Scheme != Dir || src.Scheme != Badger):
		return fmt.Errorf("%s lies inside of %s, so a copy could replace what it reads: name a place outside", src, dst)
	}
	return nil
}

// folderOf is the folder of this machine that a store takes up, "" if it takes none.
func folderOf(u URL) string {
	switch u.Scheme {
	case Dir, Badger:
		return u.Target
	case Mem, Static:
		if info, err := os.Stat(u.Target); u.Target != "" && err == nil && info.IsDir() {
			return u.Target
		}
	}
	return ""
}

// sameStore reports whether two URLs name one store, however they are written.
// An empty store in memory is never another's.
func sameStore(a, b URL) bool {
	if a.Scheme != b.Scheme {
		return false
	}
	switch a.Scheme {
	case Mem, Static:
		return false // each opening is a copy
	case TCP:
		return a.Target == b.Target
	case Postgres: // two ways to write a server are not known to be one
		return (a.All || b.All || a.namespace() == b.namespace()) && a.Target == b.Target
	}
	return (a.All || b.All || a.namespace() == b.namespace()) && hostpath.Same(a.Target, b.Target)
}

// Same reports whether two stores without routes are one, however they are written.
func (s Spec) Same(other Spec) bool {
	a, b := s.URL, other.URL
	return len(s.Routes)+len(other.Routes) == 0 && sameStore(a, b) && a.All == b.All && a.ReadOnly == b.ReadOnly
}

// defaultNamespace is that of the databases.
const defaultNamespace = "default"

// namespace is the one that the URL names or leaves out.
func (u URL) namespace() string {
	if u.Namespace == "" {
		return defaultNamespace
	}
	return u.Namespace
}
