package storeurl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want storeurl.URL
	}{
		{"mem:", storeurl.URL{Scheme: storeurl.Mem}},
		{"mem:seed.json", storeurl.URL{Scheme: storeurl.Mem, Target: "seed.json"}},
		{"static:./docs", storeurl.URL{Scheme: storeurl.Static, Target: "./docs"}},
		{"badger:/var/store", storeurl.URL{Scheme: storeurl.Badger, Target: "/var/store"}},
		{"badger:s?namespace=a%26b", storeurl.URL{Scheme: storeurl.Badger, Target: "s", Namespace: "a&b"}},
		{"badger:what%3F%25%2C", storeurl.URL{Scheme: storeurl.Badger, Target: "what?%,"}},
		{"badger:a+b c", storeurl.URL{Scheme: storeurl.Badger, Target: "a+b c"}},
		{"sqlite:a.db?mode=ro&namespace=n", storeurl.URL{Scheme: storeurl.SQLite, Target: "a.db", Namespace: "n", ReadOnly: true}},
		{"unix:/tmp/a:b.sock", storeurl.URL{Scheme: storeurl.Unix, Target: "/tmp/a:b.sock"}},
		{"tcp:127.0.0.1:7077?token-file=t=1", storeurl.URL{Scheme: storeurl.TCP, Target: "127.0.0.1:7077", TokenFile: "t=1"}},
		{"tcp:[::1]:7077?token-file=t", storeurl.URL{Scheme: storeurl.TCP, Target: "[::1]:7077", TokenFile: "t"}},
		{"dir:.", storeurl.URL{Scheme: storeurl.Dir, Target: "."}},
		{"postgres://u@h:5432/db", storeurl.URL{Scheme: storeurl.Postgres, Target: "u@h:5432/db"}},
		{"postgresql://u@h:5432/db", storeurl.URL{Scheme: storeurl.Postgres, Target: "u@h:5432/db"}},
		{"postgres://", storeurl.URL{Scheme: storeurl.Postgres, Target: "/"}},
		{"postgres://h", storeurl.URL{Scheme: storeurl.Postgres, Target: "h/"}},
		{"postgres:///db?host=/run/a,/run/b", storeurl.URL{Scheme: storeurl.Postgres, Target: "/db?host=/run/a%2C/run/b"}},
		{"postgres://h1:1,h2/db", storeurl.URL{Scheme: storeurl.Postgres, Target: "h1:1,h2/db"}},
		{"postgres://h/db?namespace=a%26b#&sslmode=require&mode=ro", storeurl.URL{Scheme: storeurl.Postgres, Target: "h/db?sslmode=require", Namespace: "a&b#", ReadOnly: true}},
		{"postgres://h/db?namespace=*", storeurl.URL{Scheme: storeurl.Postgres, Target: "h/db", All: true}},
		{"postgres://h/db?service=s&&", storeurl.URL{Scheme: storeurl.Postgres, Target: "h/db?service=s"}},
	} {
		got, err := storeurl.Parse(c.raw)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.raw, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", c.raw, diff)
		}
		if again, err := storeurl.Parse(got.String()); err != nil || again != got {
			t.Errorf("Parse(%q.String()) = %+v, %v", c.raw, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ raw, says string }{
		{"", "write one of mem:"},
		{"./store", "write one of mem:"},
		{"Badger:x", "write one of mem:"},
		{"badger:", "with a directory"},
		{"static:", "a folder, a .json or a .txtar"},
		{"badger://x", "no // behind the colon"},
		{"badger:x?", `unknown parameter ""`},
		{"badger:x?namespace", "namespace is blank"},
		{"badger:x?namespace=%20", "namespace is blank"},
		{"badger:x?namespace=a&namespace=b", "given twice"},
		{"badger:x?mode=ro", "badger: takes namespace"},
		{"sqlite:x?mode=rw", "mode=ro opens read-only"},
		{"sqlite:x?modes=ro", "sqlite: takes namespace and mode"},
		{"mem:?namespace=a", "mem: takes no parameters"},
		{"badger:100%", "write %25"},
		{"badger:a%00b", "NUL"},
		{"tcp:127.0.0.1:1", "needs ?token-file"},
		{"tcp:192.168.0.1:1?token-file=x", "only loopback"},
		{"tcp:127.0.0.1:99999?token-file=x", "from 0 to 65535"},
		{"tcp:127.0.0.1:http?token-file=x", "from 0 to 65535"},
		{"tcp:localhost?token-file=x", "is no address"},
		{"postgres:", "write postgres://"},
		{"postgres:x", "write postgres://"},
		{"postgres:/h/db", "write postgres://"},
		{"postgres://h/db?namespace=", "namespace is blank"},
		{"postgres://h/db?namespace=a&namespace=b", "given twice"},
		{"postgres://h/db?mode=rw", "mode=ro opens read-only"},
		{"postgres://h/100%", "write %25"},
		{"postgres://u:p@h/db", "see PGPASSFILE"},
		{"postgres://h/db?password=p", "see PGPASSFILE"},
	} {
		u, err := storeurl.Parse(c.raw)
		if err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", c.raw, u)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("Parse(%q) says %q, want %q in it", c.raw, err, c.says)
		}
	}
}

func TestParseRoute(t *testing.T) {
	for _, c := range []struct{ raw, prefix, url, says string }{
		{"/docs=static:x", "/docs", "static:x", ""},
		{"/docs/=static:x,ro", "/docs", "static:x", ""},
		{"/a%3Db=mem:x%2Cy", "/a=b", "mem:x%2Cy", ""},
		{"/a=badger:x?namespace=n", "/a", "badger:x?namespace=n", ""},
		{"docs=mem:", "", "", "write /prefix=URL"},
		{"/docs", "", "", "write /prefix=URL"},
		{"/=mem:", "", "", "cannot be at /"},
		{"/a/../b=mem:", "", "", `".."`},
		{"/a=mem:,rw", "", "", "only ro"},
		{"/a=mem:,ro,ro", "", "", "only ro"},
		{"/a=x", "", "", "is no store URL"},
		{"/%=mem:", "", "", "write %25"},
		{"/a=postgres://h1,h2/db,ro", "/a", "postgres://h1,h2/db", ""},
		{"/a=postgres://h1,h2", "/a", "postgres://h1,h2/", ""},
		{"/a=postgres://h1,ro", "/a", "postgres://h1/", ""},
		{"/a=postgres://h1,ro/", "/a", "postgres://h1,ro/", ""},
		{"/a=postgres://h1/db?namespace=n,ro", "/a", "postgres://h1/db?namespace=n", ""},
		{"/a=postgres://h1/db,rw", "", "", "only ro"},
	} {
		r, err := storeurl.ParseRoute(c.raw)
		switch {
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("ParseRoute(%q) = %+v, %v, want an error with %q", c.raw, r, err, c.says)
		case c.says == "" && (err != nil || r.Prefix != c.prefix || r.URL.String() != c.url || r.ReadOnly != strings.HasSuffix(c.raw, ",ro")):
			t.Errorf("ParseRoute(%q) = %+v, %v", c.raw, r, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"mem:", "badger:a?namespace=%26", "sqlite:a&b?mode=ro", "tcp:127.0.0.1:1?token-file=a,b", "dir:%2e", "postgres://u@h:1,ro?namespace=a&x=,", "postgres:///%2C?", "postgres://@h:1,r@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := storeurl.Parse(raw)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Errorf("Parse(%q) refuses without a word", raw)
			}
			return
		}
		if again, err := storeurl.Parse(u.String()); err != nil || again != u {
			t.Errorf("%q is %+v, written %q and read as %+v, %v", raw, u, u, again, err)
		}
		r := storeurl.Route{Prefix: "/p=,%", URL: u, ReadOnly: true}
		if again, err := storeurl.ParseRoute(r.String()); err != nil || again != r {
			t.Errorf("route %q is read as %+v, %v", r, again, err)
		}
	})
}
