package storeurl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestNamespaceIsKnown: what is only looked at must be there, and a message
// says what is; what is written may be new.
func TestNamespaceIsKnown(t *testing.T) {
	for _, scheme := range []string{"badger:", "sqlite:"} {
		url := scheme + storeurl.Escape(filepath.Join(t.TempDir(), "made", "db")) // makes its parents
		var o storeurl.Opener
		s, err := o.Open(t.Context(), spec(t, url+"?namespace=notes"), storeurl.Want{Write: true, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := vfs.Write(t.Context(), s.Backend, "/x", "text", ""); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			query string
			want  storeurl.Want
			ok    bool
		}{
			{"?namespace=notse", storeurl.Want{}, false},
			{"?namespace=notse", storeurl.Want{Long: true}, false},
			{"?namespace=notse", storeurl.Want{Write: true}, true},
			{"?namespace=notes", storeurl.Want{}, true},
			{"", storeurl.Want{}, true},
		} {
			var o storeurl.Opener
			_, err := o.Open(t.Context(), spec(t, url+c.query), c.want)
			if ok := err == nil; ok != c.ok || !ok && !strings.Contains(err.Error(), `those that hold files are "notes"`) {
				t.Errorf("%s%s with %+v: %v", scheme, c.query, c.want, err)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSeedIsComplete: what a killed copy left in a folder is no file of it.
func TestSeedIsComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", ".goliathfs-1-1.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var o storeurl.Opener
	s, err := o.Open(t.Context(), spec(t, "static:"+storeurl.Escape(dir)), storeurl.Want{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := vfs.List(t.Context(), s.Backend, "/", vfs.ListOptions{})
	if err != nil || len(page.Files) != 1 || page.Files[0].Path != "/a" {
		t.Errorf("it holds %v, %v", page.Files, err)
	}
}
