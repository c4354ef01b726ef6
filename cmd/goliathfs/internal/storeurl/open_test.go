package storeurl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

func spec(t *testing.T, url string, routes ...string) storeurl.Spec {
	t.Helper()
	u, err := storeurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s := storeurl.Spec{URL: u}
	for _, r := range routes {
		route, err := storeurl.ParseRoute(r)
		if err != nil {
			t.Fatal(err)
		}
		s.Routes = append(s.Routes, route)
	}
	return s
}

// TestLookMakesNothing: a mistyped name is an error, never an empty store.
func TestLookMakesNothing(t *testing.T) {
	for _, scheme := range []string{"badger:", "sqlite:", "static:", "mem:"} {
		for _, want := range []storeurl.Want{storeurl.Want{}, storeurl.Want{Long: true}, storeurl.Want{Write: true}} {
			dir := t.TempDir()
			var o storeurl.Opener
			_, err := o.Open(t.Context(), spec(t, scheme+storeurl.Escape(filepath.Join(dir, "typo"))), want)
			if err == nil {
				t.Errorf("%s opens what is not there", scheme)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("%s with %+v made %v", scheme, want, entries)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNamespacesShareOneDatabase: a database can be open once, its namespaces
// any number of times, whatever the order of read-only routes.
func TestNamespacesShareOneDatabase(t *testing.T) {
	dir := storeurl.Escape(filepath.Join(t.TempDir(), "db"))
	var o storeurl.Opener
	first, err := o.Open(t.Context(), spec(t, "badger:"+dir+"?namespace=a"), storeurl.Want{Write: true, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), first.Backend, "/x", "text", ""); err != nil {
		t.Fatal(err)
	}
	s, err := o.Open(t.Context(), spec(t, "mem:", "/ro=badger:"+dir+"?namespace=a,ro", "/rw=badger:"+dir+"?namespace=b"), storeurl.Want{Write: true, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Write(t.Context(), s.Backend, "/rw/x", "text", ""); err != nil {
		t.Error(err)
	}
	if _, err := vfs.Write(t.Context(), s.Backend, "/ro/x", "text", ""); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("writing below a read-only route: %v", err)
	}
	for path, want := range map[string]bool{"/x": true, "/ro/x": false, "/ro": false, "/rox": true, "/rw/x": true} {
		if got, err := s.Writable(t.Context(), path); err != nil || got != want {
			t.Errorf("Writable(%q) = %v, %v", path, got, err)
		}
	}
	if !s.Spec.Shares(spec(t, "badger:"+dir), storeurl.Badger) || s.Spec.Shares(spec(t, "badger:"+dir+"2"), storeurl.Badger) || s.Spec.Shares(spec(t, "badger:"+dir), storeurl.SQLite) {
		t.Error("Shares does not tell one database from another")
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func TestMissingIsNotExist(t *testing.T) {
	var o storeurl.Opener
	_, err := o.Open(t.Context(), spec(t, "badger:"+storeurl.Escape(t.TempDir())+"/no"), storeurl.Want{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that matches fs.ErrNotExist", err)
	}
}

// TestSeedOfADevice: a link to what never ends is told, not read.
func TestSeedOfADevice(t *testing.T) {
	for _, name := range []string{"seed.json", "seed.txtar"} {
		link := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(os.DevNull, link); err != nil {
			t.Fatal(err)
		}
		var o storeurl.Opener
		_, err := o.Open(t.Context(), spec(t, "static:"+storeurl.Escape(link)), storeurl.Want{})
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}
