package storeurl_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// TestTake: an argument is left without its password, wherever a URL can have one.
func TestTake(t *testing.T) {
	for _, c := range []struct{ arg, clean string }{
		{"postgres://u:secret@h/db", "postgres://u@h/db"},
		{"postgresql://u:secret@h:5432/db?sslmode=require&namespace=n", "postgresql://u@h:5432/db?sslmode=require&namespace=n"},
		{"postgres://:secret@h/db", "postgres://h/db"},
		{"postgres://u:@h/db", "postgres://u@h/db"},
		{"postgres://u:se:cret@h/db", "postgres://u@h/db"},
		{"postgres://u:se?cret@h/db", "postgres://u@h/db"},
		{"postgres://u:s%2Fecret@h1,h2/db", "postgres://u@h1,h2/db"},
		{"postgres://u:secret@", "postgres://u@"},
		{"postgres://u@h/db?password=secret", "postgres://u@h/db"},
		{"postgres://u@h/db?Password=secret", "postgres://u@h/db"},
		{"postgres://u@h/db?passwd=secret&a=b&PWD=secret", "postgres://u@h/db?a=b"},
		{"postgres://u@h/db?pass%77ord=secret&a=b", "postgres://u@h/db?a=b"},
		{"postgres://u@h/db?a=b&sslpassword=secret&password=secret,", "postgres://u@h/db?a=b"},
		{"/x=postgres://u:secret@h/db,ro", "/x=postgres://u@h/db,ro"},
		{"/x=postgres://u:secret@h,ro", "/x=postgres://u@h,ro"},
		{"/x=postgres://u@h/?password=secret,ro", "/x=postgres://u@h/,ro"},
		{"--route=/x=postgres://u:secret@h/db,ro", "--route=/x=postgres://u@h/db,ro"},
		{"--store=postgres://u:secret@h/db", "--store=postgres://u@h/db"},
		{"Postgres://u:secret@h/db", "Postgres://u@h/db"},
		{"postgre://u:secret@h/db", "postgre://u@h/db"},
		{"postgres:/u:secret@h", "postgres:/u@h"},
		{"postgres:u:secret@h", "postgres:u@h"},
		{"jdbc:postgresql://u:secret@h/db", "jdbc:postgresql://u@h/db"},
		// Nothing to take.
		{"postgres://u@h/db", "postgres://u@h/db"},
		{"postgres://h:5432/db", "postgres://h:5432/db"},
		{"postgres://[::1]:5432/db?host=a@b", "postgres://[::1]:5432/db?host=a@b"},
		{"mem:", "mem:"},
		{"see postgres://u:text@h/db", "see postgres://u:text@h/db"},
	} {
		var p storeurl.Passwords
		clean, err := p.Take(c.arg)
		if err != nil || clean != c.clean {
			t.Errorf("Take(%q) = %q, %v, want %q", c.arg, clean, err, c.clean)
		}
		if had := clean != c.arg; had && strings.Contains(c.arg, "cret") != strings.Contains(strings.Join(flat(p.Params), " "), "cret") {
			t.Errorf("Take(%q) keeps %v", c.arg, p.Params)
		}
		if p.Original(clean) != c.arg {
			t.Errorf("Original(%q) = %q", clean, p.Original(clean))
		}
	}
}

func flat(params map[string][]string) (all []string) {
	for _, list := range params {
		all = append(all, list...)
	}
	return all
}

// TestTakeRefuses: where a password cannot be told from the rest, nothing of it is left.
func TestTakeRefuses(t *testing.T) {
	for _, arg := range []string{
		"postgres://u:sec@ret@h/db", "postgres://u:sec/ret@h/db", "postgres://u:sec/ret?x@h/db", "/x=postgres://u:sec/ret@h/db,ro",
	} {
		var p storeurl.Passwords
		clean, err := p.Take(arg)
		if err == nil || strings.Contains(clean+err.Error(), "ret") || strings.Contains(clean, "sec") {
			t.Errorf("Take(%q) = %q, %v", arg, clean, err)
		}
	}
	var p storeurl.Passwords
	if _, err := p.Take("postgres://u:one@h/a"); err != nil {
		t.Fatal(err)
	}
	if clean, err := p.Take("postgres://u:zwei@h/b"); err == nil || strings.Contains(clean+err.Error(), "zwei") {
		t.Errorf("two passwords of one user: %q, %v", clean, err)
	}
	for _, arg := range []string{"postgres://u:zwei@/b?host=h", "postgres://u:drei@/b?host=h&port=5433", "postgres://u:four@/b?host=i%2Ch,", "postgres://u:five@/b?service=s"} {
		if _, err := p.Take(arg); err != nil {
			t.Errorf("of another server: %q, %v", arg, err)
		}
	}
}

// TestParseHidesPasswords: what is refused for its scheme is repeated without a password.
func TestParseHidesPasswords(t *testing.T) {
	for _, raw := range []string{
		"postgress://u:secret@h/db", "postgrs://u:secret@h/db", "pgx://u:se/cret@h/db", "mysql://u:se@secret:x@h/db", "postgres//u:secret@h/db",
		"host=h/db password=s?ecret", "host=h/db password=a//secret", "host=h/db PASSWORD = 'a \\' secret' user=u", "posgres://u@h/db?password=secret", "posgres://u@h/db?a=b&PWD=secret", "/x=posgres://u:secret@h/db",
		"posgres:u:secret@h/db", "mysql:/u:secret@h/db",
	} {
		_, err := storeurl.Parse(raw)
		if err == nil || strings.Contains(err.Error(), "cret") || !strings.Contains(err.Error(), "h/db") {
			t.Errorf("Parse(%q): %v", raw, err)
		}
	}
	for _, raw := range []string{
		"x=postgres://u:secret@h/db", "postgres://u:secret@h/db", "x=posgres:u:secret@h/db", "/x=posgres://u:secret@h/db,rw", "/=posgres://u:secret@h/db",
	} {
		_, err := storeurl.ParseRoute(raw)
		if err == nil || strings.Contains(err.Error(), "cret") || !strings.Contains(err.Error(), "h/db") {
			t.Errorf("ParseRoute(%q): %v", raw, err)
		}
	}
}

// FuzzTake: an argument without its password has none, and is the same URL.
func FuzzTake(f *testing.F) {
	for _, s := range []string{"postgres://u:p@h/db?x=y", "/x=postgres://u:p@h,ro", "postgres://u@h/?password=p", "postgres://h,ro"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		var p, again storeurl.Passwords
		clean, err := p.Take(arg)
		if err != nil {
			return
		}
		if twice, err := again.Take(clean); err != nil || twice != clean || len(again.Params) > 0 {
			t.Errorf("Take(%q) = %q, of which Take makes %q, %v, %v", arg, clean, twice, again.Params, err)
		}
		if p.Original(clean) != arg {
			t.Errorf("Original(%q) = %q, want %q", clean, p.Original(clean), arg)
		}
	})
}
