package storeurl

import (
	"errors"
	"slices"
	"strings"
)

// postgresPrefixes are the two ways to begin the URL of a PostgreSQL database.
var postgresPrefixes = []string{"postgres://", "postgresql://"}

// cutPostgres returns what stands behind the prefix of a PostgreSQL URL.
func cutPostgres(raw string) (rest string, ok bool) {
	for _, prefix := range postgresPrefixes {
		if rest, ok = strings.CutPrefix(raw, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

// libpq is a PostgreSQL URL, cut as libpq does. Nothing is decoded.
type libpq struct {
	user, password string
	hasPassword    bool
	hosts          string // with their ports
	path           string // with its slash; "" when there is none
	params         []string
}

// cutLibpq cuts what stands behind the prefix. As in libpq, an "@" before the first
// slash ends the user, wherever it stands.
func cutLibpq(rest string) libpq {
	var l libpq
	if i := strings.IndexAny(rest, "@/"); i >= 0 && rest[i] == '@' {
		l.user, l.password, l.hasPassword = strings.Cut(rest[:i], ":")
		rest = rest[i+1:]
	}
	rest, query, _ := strings.Cut(rest, "?")
	l.hosts = rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		l.hosts, l.path = rest[:i], rest[i:]
	}
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			l.params = append(l.params, pair)
		}
	}
	return l
}

// account is the user and the hosts.
func (l libpq) account() string {
	if l.user == "" {
		return l.hosts
	}
	return postgresEscaper.Replace(l.user) + "@" + l.hosts
}

// server is what a password is for: the account, and the parameters that name another
// one.
func (l libpq) server() string {
	s := l.account()
	for _, pair := range l.params {
		decoded, err := decode(pair)
		key, _, _ := strings.Cut(decoded, "=")
		if err == nil && slices.Contains([]string{"host", "hostaddr", "port", "user", "service", "servicefile"}, key) {
			s += "?" + decoded
		}
	}
	return s
}

// postgresEscaper makes what may stand in a URL of libpq safe in a URL of ours: commas
// separate hosts and the options of routes.
var postgresEscaper = strings.NewReplacer("?", "%3F", ",", "%2C")

// text writes it without the prefix and the password, always with a slash behind the
// hosts, so that they can be told from what a route has behind its URL.
func (l libpq) text() string {
	s := l.account() + "/" + postgresEscaper.Replace(strings.TrimPrefix(l.path, "/"))
	if len(l.params) > 0 {
		s += "?" + strings.ReplaceAll(strings.Join(l.params, "&"), ",", "%2C")
	}
	return s
}

// parsePostgres reads what stands behind the prefix of a PostgreSQL URL. All but the
// parameters of ours is left to libpq's rules.
func parsePostgres(rest string) (URL, error) {
	u := URL{Scheme: Postgres}
	if _, err := decode(rest); err != nil {
		return u, err
	}
	l := cutLibpq(rest)
	if l.hasPassword || slices.ContainsFunc(l.params, isPassword) {
		return u, errors.New("a password has no place here, see PGPASSFILE and ~/.pgpass")
	}
	if strings.Contains(l.hosts, "@") {
		return u, errors.New("no host has an @ in its name: write one that belongs to the user as %40")
	}
	var ours, theirs []string
	f, _ := u.kind()
	for _, pair := range l.params {
		key, _, _ := strings.Cut(pair, "=")
		if slices.Contains(f.params, key) {
			ours = append(ours, pair)
		} else {
			theirs = append(theirs, pair)
		}
	}
	if len(ours) > 0 {
		if err := u.setParams(f, strings.Join(ours, "&")); err != nil {
			return u, err
		}
	}
	l.params = theirs
	u.Target = l.text()
	return u, nil
}

// isPassword reports whether a parameter is a secret of libpq, also a mistyped one.
func isPassword(pair string) bool {
	key, _, _ := strings.Cut(pair, "=")
	decoded, err := decode(key)
	return err == nil && slices.Contains([]string{"password", "sslpassword", "passwd", "pwd"}, strings.ToLower(decoded))
}

// cutOption cuts the option of a route off the URL of a store. The hosts of a
// PostgreSQL URL have commas between them.
func cutOption(target string) (url, option string, ok bool) {
	rest, isPostgres := cutPostgres(target)
	if !isPostgres {
		return strings.Cut(target, ",")
	}
	hosts := len(target) - len(rest) + strings.IndexAny(rest+"/", "/?")
	if i := strings.IndexByte(target[hosts:], ','); hosts < len(target) && i >= 0 {
		return target[:hosts+i], target[hosts+i+1:], true
	}
	url, ok = strings.CutSuffix(target, ",ro")
	if !ok {
		return target, "", false
	}
	return url, "ro", true
}

// bareURL is a PostgreSQL URL for messages, without a password that should not be there.
func bareURL(raw string) string {
	clean, _ := new(Passwords).Take(raw)
	return clean
}
