package storeurl

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
)

// Scheme says what kind of store a URL names.
type Scheme string

// The schemes.
const (
	Mem    Scheme = "mem"
	Static Scheme = "static"
	Badger Scheme = "badger"
	SQLite Scheme = "sqlite"
	// Postgres is written with "//" behind the colon, as libpq has it.
	Postgres Scheme = "postgres"
	Unix     Scheme = "unix"
	TCP      Scheme = "tcp"
	Backup   Scheme = "backup"
	Journal  Scheme = "journal"
	Dir      Scheme = "dir"
)

// The parameters that a URL can have behind its "?".
const (
	paramNamespace = "namespace"
	paramMode      = "mode"
	paramToken     = "token-file"
)

// allNamespaces is the value of paramNamespace that means every one.
const allNamespaces = "*"

// form is the grammar of one scheme.
type form struct {
	scheme Scheme
	usage  string   // how it is written, for messages
	target string   // what stands behind the colon; "" means that it may be empty
	params []string // allowed behind "?"

	kind   database.Kind // of a database, else nil
	alone  bool          // one opening at a time has the database
	server bool          // it is no file of this machine
}

// forms returns the schemes in the order in which messages name them.
func forms() []form {
	return []form{
		{scheme: Mem, usage: "mem:[SEED]"},
		{scheme: Static, usage: "static:SEED", target: "a folder, a .json or a .txtar file"},
		{scheme: Badger, usage: "badger:DIR[?namespace=N]", target: "a directory", params: []string{paramNamespace}, kind: database.Badger{}, alone: true},
		{scheme: SQLite, usage: "sqlite:FILE[?namespace=N][&mode=ro]", target: "a database file", params: []string{paramNamespace, paramMode}, kind: database.SQLite{}},
		{scheme: Postgres, usage: "postgres://[USER@]HOST[:PORT]/DATABASE[?namespace=N]", params: []string{paramNamespace, paramMode}, kind: database.Postgres{}, server: true},
		{scheme: Unix, usage: "unix:SOCKET", target: "a socket"},
		{scheme: TCP, usage: "tcp:127.0.0.1:PORT?token-file=FILE", target: "an address", params: []string{paramToken}},
		{scheme: Backup, usage: "backup:FILE[?namespace=N]", target: "the file of a backup", params: []string{paramNamespace}},
		{scheme: Journal, usage: "journal:FILE[@TIME or @REVISION]", target: "the file of a journal"},
		{scheme: Dir, usage: "dir:PATH", target: "a folder"},
	}
}

// Schemes returns the beginning of every kind of URL, for completion.
func Schemes() []string {
	var names []string
	for _, f := range forms() {
		if f.server {
			names = append(names, string(f.scheme)+"://")
			continue
		}
		names = append(names, string(f.scheme)+":")
	}
	return names
}

// HasNamespaces reports whether the URL can name a namespace.
func (u URL) HasNamespaces() bool {
	return slices.ContainsFunc(forms(), func(f form) bool { return f.scheme == u.Scheme && slices.Contains(f.params, paramNamespace) })
}

// WithNamespaces returns the schemes whose URLs can name a namespace, for messages.
func WithNamespaces() string {
	var names []string
	for _, f := range forms() {
		if slices.Contains(f.params, paramNamespace) {
			names = append(names, string(f.scheme)+":")
		}
	}
	return strings.Join(names, ", ")
}

// Databases returns the schemes of databases as messages name them, with a text such as
// " or " before the last.
func Databases(word string) string {
	var names []string
	for _, f := range forms() {
		if f.kind != nil {
			names = append(names, string(f.scheme)+":")
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + word + names[last]
}

// OnHost reports whether the URL names a file or folder of this machine.
func (u URL) OnHost() bool { return u.Target != "" && u.Scheme != TCP && u.Scheme != Postgres }

// Usages returns how each kind of URL is written, for messages.
func Usages() string {
	var usages []string
	for _, f := range forms() {
		usages = append(usages, f.usage)
	}
	return strings.Join(usages, ", ")
}

// URL names a store. Its fields are decoded.
type URL struct {
	Scheme    Scheme
	Target    string // the folder, file, socket or address; may be empty for Mem; of Postgres what libpq has behind the "//"
	Namespace string // "" means the default one
	All       bool   // namespace=*: every namespace, read-only, a directory each
	ReadOnly  bool   // mode=ro: nothing changes, not a byte beside a file either
	TokenFile string // holds the token of a TCP server
	Moment    string // of a journal, a time or a revision; "" means the newest
}

// Parse reads a store URL. Its error is one sentence that says what was wrong
// and what is allowed; for the bare name of a file or folder it looks at what
// that is.
func Parse(raw string) (URL, error) {
	if rest, ok := cutPostgres(raw); ok {
		u, err := parsePostgres(rest)
		if err != nil {
			return URL{}, fmt.Errorf("%q: %w", bareURL(raw), err)
		}
		return u, nil
	}
	name, rest, ok := strings.Cut(raw, ":")
	i := slices.IndexFunc(forms(), func(f form) bool { return string(f.scheme) == name })
	if !ok || i < 0 {
		if near := guess(raw); near != "" {
			return URL{}, fmt.Errorf("%q is no store URL, did you mean %s?", masked(raw), near)
		}
		return URL{}, fmt.Errorf("%q is no store URL: write one of %s", masked(raw), Usages())
	}
	f := forms()[i]
	target, query, hasQuery := strings.Cut(rest, "?")
	u := URL{Scheme: f.scheme}
	var err error
	if f.scheme == Journal {
		if target, u.Moment, err = cutMoment(target); err != nil {
			return URL{}, fmt.Errorf("%q: %w", raw, err)
		}
	}
	if u.Target, err = decode(target); err != nil {
		return URL{}, fmt.Errorf("%q: %w", raw, err)
	}
	switch {
	case f.server:
		return URL{}, fmt.Errorf("%q is no store URL: write %s", raw, f.usage)
	case u.Target == "" && f.target != "":
		return URL{}, fmt.Errorf("%q names no store: write %s with %s", raw, f.usage, f.target)
	case strings.HasPrefix(target, "//"):
		return URL{}, fmt.Errorf("%q: a store URL has no // behind the colon, write %s", raw, f.usage)
	}
	if hasQuery {
		if err := u.setParams(f, query); err != nil {
			return URL{}, fmt.Errorf("%q: %w", raw, err)
		}
	}
	if err := u.checkAddress(); err != nil {
		return URL{}, fmt.Errorf("%q: %w", raw, err)
	}
	return u, nil
}

func (u *URL) setParams(f form, query string) error {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(f.params, key) {
			if len(f.params) == 0 {
				return fmt.Errorf("%s: takes no parameters, %q is one (write ? in a name as %%3F)", f.scheme, key)
			}
			return fmt.Errorf("unknown parameter %q, %s: takes %s", key, f.scheme, strings.Join(f.params, " and "))
		}
		if seen[key] {
			return fmt.Errorf("the parameter %s is given twice, give it once", key)
		}
		seen[key] = true
		decoded, err := decode(value)
		if err != nil {
			return err
		}
		if strings.TrimSpace(decoded) == "" {
			return fmt.Errorf("the parameter %s is blank, give it a value or leave it out", key)
		}
		switch key {
		case paramNamespace:
			if u.All = value == allNamespaces; !u.All { // a namespace of that name is written %2A
				u.Namespace = decoded
			}
		case paramToken:
			u.TokenFile = decoded
		case paramMode:
			if decoded != "ro" {
				return fmt.Errorf("mode=%s is unknown, mode=ro opens read-only", decoded)
			}
			u.ReadOnly = true
		}
	}
	return nil
}

// checkAddress refuses a TCP address that could leave this machine: the
// protocol is not encrypted.
func (u *URL) checkAddress() error {
	if u.Scheme != TCP {
		return nil
	}
	if err := CheckLoopback(u.Target); err != nil {
		return err
	}
	if u.TokenFile == "" {
		return errors.New("a TCP store needs ?token-file=FILE, the file that its server was given")
	}
	return nil
}

// CheckLoopback refuses an address that is not a port of this machine.
func CheckLoopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return fmt.Errorf("%q is no address, write 127.0.0.1:PORT", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is no port, write a number from 0 to 65535", port)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not this machine, only loopback addresses such as 127.0.0.1:%s are allowed", host, port)
	}
	return nil
}

// decode undoes percent-encoding. A NUL can be in no name of the host.
func decode(s string) (string, error) {
	d, err := url.PathUnescape(s)
	if err != nil {
		return "", fmt.Errorf("%q has a %% that starts no escape, write %%25 for a percent sign", s)
	}
	if strings.ContainsRune(d, 0) {
		return "", fmt.Errorf("%q holds a NUL, which no name can", s)
	}
	return d, nil
}

var escaper = strings.NewReplacer("%", "%25", "?", "%3F", "&", "%26", ",", "%2C")

// Escape writes a name so that Parse and ParseRoute take it literally.
func Escape(name string) string { return escaper.Replace(name) }

// String returns the URL in the form that Parse reads.
func (u URL) String() string {
	var params []string
	switch {
	case u.All:
		params = append(params, paramNamespace+"="+allNamespaces)
	case u.Namespace == allNamespaces:
		params = append(params, paramNamespace+"=%2A")
	case u.Namespace != "":
		params = append(params, paramNamespace+"="+Escape(u.Namespace))
	}
	if u.ReadOnly {
		params = append(params, paramMode+"=ro")
	}
	if u.TokenFile != "" {
		params = append(params, paramToken+"="+Escape(u.TokenFile))
	}
	s, separator := string(u.Scheme)+":"+Escape(u.Target), "?"
	switch u.Scheme {
	case Journal:
		s = strings.ReplaceAll(s, "@", "%40")
		if u.Moment != "" {
			s += "@" + Escape(u.Moment)
		}
	case Postgres:
		s = postgresPrefixes[0] + u.Target
		if strings.Contains(s, "?") {
			separator = "&"
		}
	}
	if len(params) > 0 {
		s += separator + strings.Join(params, "&")
	}
	return s
}
