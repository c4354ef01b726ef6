package storeurl

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Passwords are those that someone has written into URLs of PostgreSQL databases. They
// are taken out of the arguments before anything else looks at these, so that no
// message, log, mount or other process can show one: a URL holds none.
type Passwords struct {
	// Params are what libpq is given beside a URL, as in "password=x", by user and server.
	Params map[string][]string
	// Args are the arguments as they were, by what was left of them.
	Args map[string]string
}

// inArgument finds a PostgreSQL URL, also a mistyped one, where an argument holds a
// store: as a whole, as the value of a flag or as that of a route.
var inArgument = regexp.MustCompile(`^(--[a-z-]+=)?(/[^=]*=)?(?i:jdbc:)?(?i:postgre[a-z]*|postgess|postgers|pgsql|psql|pg):/{0,2}`)

// errPassword refuses a URL of which it cannot be told where the password ends.
var errPassword = errors.New("a postgres: URL has an @ that may belong to a password: write @ in one as %40, / as %2F and ? as %3F, or keep the password in a file (PGPASSFILE, ~/.pgpass)")

// Take returns an argument without the password in it, which p has from then on. After
// an error, one sentence, it is without all that may be a password.
func (p *Passwords) Take(arg string) (clean string, err error) {
	at := inArgument.FindStringSubmatchIndex(arg)
	if at == nil {
		return arg, nil
	}
	arg = strings.Clone(arg) // whose memory may be overwritten
	head, rest, option := arg[:at[1]], arg[at[1]:], ""
	if isRoute := at[4] >= 0; isRoute {
		target, _, _ := cutOption(postgresPrefixes[0] + rest)
		target = strings.TrimPrefix(target, postgresPrefixes[0])
		rest, option = target, rest[len(target):]
	}
	l := cutLibpq(rest)
	if l.unsure() {
		return head, errPassword
	}
	var secrets []string
	l.params = slices.DeleteFunc(l.params, func(pair string) bool {
		if isPassword(pair) {
			secrets = append(secrets, pair)
			return true
		}
		return false
	})
	if l.password != "" {
		secrets = append(secrets, "password="+l.password)
	}
	if len(secrets) == 0 && !l.hasPassword {
		return arg, nil
	}
	clean = head + l.bare() + option
	if old, ok := p.Params[l.server()]; ok && !slices.Equal(old, secrets) {
		return clean, errors.New("two postgres: URLs have the same user and server and different passwords, keep them in a file (PGPASSFILE, ~/.pgpass)")
	}
	if p.Params == nil {
		p.Params, p.Args = map[string][]string{}, map[string]string{}
	}
	p.Params[l.server()] = secrets
	p.Args[clean] = arg
	return clean, nil
}

// unsure reports whether an "@" stands where only a badly written password has one.
func (l libpq) unsure() bool {
	if strings.Contains(l.hosts+l.path, "@") {
		return true
	}
	if !strings.Contains(strings.Join(l.params, "&"), "@") {
		return false
	}
	for host := range strings.SplitSeq(l.hosts, ",") {
		_, port, _ := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":")
		if strings.Trim(port, "0123456789") != "" {
			return true
		}
	}
	return false
}

// bare is the URL as it was written, without prefix and password.
func (l libpq) bare() string {
	s := l.hosts + l.path
	if l.user != "" {
		s = l.user + "@" + s
	}
	if len(l.params) > 0 {
		s += "?" + strings.Join(l.params, "&")
	}
	return s
}

// inPairs finds the password of a connection string that is no URL.
var inPairs = regexp.MustCompile(`(?i)\b((?:ssl)?password|passwd|pwd)\s*=\s*('(?:[^'\\]|\\.)*'?|\S+)`)

// behindScheme finds what a scheme ends with, also when it lacks some of that.
var behindScheme = regexp.MustCompile(`:/{0,2}|//`)

// masked is a text that is no URL of ours, for messages, without what may be a password
// in it: its scheme may be mistyped, or that of another program.
func masked(raw string) string {
	at := strings.LastIndexByte(raw, '@')
	if scheme := behindScheme.FindStringIndex(raw); scheme != nil && scheme[1] <= at {
		if user, _, ok := strings.Cut(raw[scheme[1]:at], ":"); ok {
			raw = raw[:scheme[1]] + user + raw[at:]
		}
	}
	if !strings.Contains(raw, "//") {
		return inPairs.ReplaceAllString(raw, "$1=…")
	}
	raw, query, _ := strings.Cut(raw, "?")
	if query == "" {
		return inPairs.ReplaceAllString(raw, "$1=…")
	}
	params := slices.DeleteFunc(strings.Split(query, "&"), isPassword)
	return raw + "?" + strings.Join(params, "&")
}

type passwordsKey struct{}

// In returns a context in which stores are opened with the passwords.
func (p Passwords) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, passwordsKey{}, p)
}

// PasswordsIn returns those of a context.
func PasswordsIn(ctx context.Context) Passwords {
	p, _ := ctx.Value(passwordsKey{}).(Passwords)
	return p
}

// Original returns an argument as it was before Take, for one that is no store.
func (p Passwords) Original(arg string) string {
	if was, ok := p.Args[arg]; ok {
		return was
	}
	return arg
}

// connection returns what libpq is given to open the database that u names.
func (p Passwords) connection(u URL) string {
	s := postgresPrefixes[0] + u.Target
	secrets := p.Params[cutLibpq(u.Target).server()]
	if len(secrets) == 0 {
		return s
	}
	if strings.Contains(s, "?") {
		return s + "&" + strings.Join(secrets, "&")
	}
	return s + "?" + strings.Join(secrets, "&")
}
