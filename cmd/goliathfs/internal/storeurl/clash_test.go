package storeurl_test

import (
	"os"
	"testing"
)

func TestClash(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, err := range []error{
		os.MkdirAll("o/sub", 0o777),
		os.Mkdir("b", 0o777),
		os.Symlink("o", "link"),
		os.WriteFile("s.db", nil, 0o666),
		os.WriteFile("o/seed.json", []byte("{}"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		src, dst string
		routes   []string
		clash    bool
	}{
		{"dir:o", "dir:./o/", nil, true},
		{"dir:o", "dir:link", nil, true},
		{"dir:o/sub", "dir:o", nil, true},
		{"dir:o", "dir:o/sub", nil, true},
		{"dir:o", "dir:link/sub/new", nil, true},
		{"static:o/sub", "dir:o", nil, true},
		{"mem:o", "dir:o/sub", nil, true},
		{"static:o", "badger:o/b", nil, true},
		{"badger:b", "badger:./b", nil, true},
		{"badger:b", "badger:b?namespace=default", nil, true},
		{"sqlite:s.db", "sqlite:./s.db?namespace=default", nil, true},
		{"sqlite:s.db?mode=ro", "sqlite:s.db", nil, true},
		{"dir:b", "badger:b", nil, true},
		{"badger:b", "dir:b/out", nil, true},
		{"mem:", "dir:o", []string{"/x=static:o/sub"}, true},
		{"mem:", "badger:b", []string{"/x=badger:b"}, true},

		{"dir:o", "dir:o2", nil, false},
		{"dir:o", "badger:o/b", nil, false},
		{"badger:o/b", "dir:o", nil, false},
		{"dir:.", "sqlite:s.db", nil, false},
		{"static:o/seed.json", "dir:o", nil, false},
		{"badger:b", "badger:b?namespace=other", nil, false},
		{"sqlite:s.db", "sqlite:s.db?namespace=other", nil, false},
		{"badger:b", "badger:b", []string{"/x=static:o"}, false},
		{"mem:", "mem:", nil, false},
		{"dir:o", "static:o", nil, false},
		{"unix:a", "dir:o", nil, false},
	} {
		err := spec(t, c.src, c.routes...).Clash(spec(t, c.dst))
		if got := err != nil; got != c.clash {
			t.Errorf("%s %v to %s: %v", c.src, c.routes, c.dst, err)
		}
	}
}
