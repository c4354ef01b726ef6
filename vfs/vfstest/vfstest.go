package vfstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Config describes the backend under test. Only New is required.
type Config struct {
	// New returns a fresh store that holds exactly the files of seed, a map from
	// canonical path to content; it must not keep the map. It ends what it opens
	// with t.Cleanup. It is called many times.
	New func(t *testing.T, seed map[string]string) vfs.Backend

	// Peer opens a second, independent store over the files of b; nil when the
	// store cannot be opened twice.
	Peer func(t *testing.T, b vfs.Backend) vfs.Backend

	// Reopen closes b and opens what it stored again; nil when b does not persist.
	Reopen func(t *testing.T, b vfs.Backend) vfs.Backend

	// Spoil replaces the content of the file at path, behind the back of b, by bytes
	// that are not valid UTF-8; nil when that cannot happen to the store.
	Spoil func(t *testing.T, b vfs.Backend, path string)

	// ReadOnly says that the backend cannot be written.
	ReadOnly bool

	// NoRemove says that the backend cannot remove files.
	NoRemove bool

	// NoWatch says that the backend does not report changes.
	NoWatch bool

	// MaxFileBytes is the greatest content the store takes: 0 means 1,048,576,
	// less than 0 that it has no limit worth a test.
	MaxFileBytes int

	// Patience bounds the wait for what a watch must do: tell of a peer's change,
	// which a store may learn late, and return when its context ends. 0 means 20
	// seconds.
	Patience time.Duration

	// BuiltIn adds the promises of this module's backends: revisions of 12
	// characters, exact sizes and modification times, full pages, and refusal of
	// paths that are not canonical when called directly.
	BuiltIn bool
}

// TestBackend runs every rule that applies to the backend as a subtest.
func TestBackend(t *testing.T, cfg Config) {
	t.Helper()
	if missing := cfg.unsaid(t); missing != "" {
		t.Fatal(missing)
	}
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			for _, rule := range rules {
				t.Run(rule.name, func(t *testing.T) {
					if why := rule.needs.missing(cfg); why != "" {
						t.Skip(why)
					}
					for _, problem := range violations(t, cfg, f, rule) {
						t.Errorf("%s\nrule: %s", problem, rule.text)
					}
				})
			}
		})
	}
}

// Check runs the same rules on the bare backend and returns an error that
// names each broken one, instead of failing t, which only serves Config's
// functions. It is for tests of test doubles and of this suite.
func Check(t *testing.T, cfg Config) error {
	t.Helper()
	if missing := cfg.unsaid(t); missing != "" {
		return errors.New(missing)
	}
	return check(t, cfg, rules)
}

// unsaid returns what the backend cannot do and the configuration does not say, ""
// when there is nothing: told once, and not by every rule that needs it.
func (cfg Config) unsaid(t *testing.T) string {
	t.Helper()
	if cfg.ReadOnly && cfg.NoWatch {
		return ""
	}
	ctx, b := t.Context(), cfg.New(t, nil)
	if !cfg.ReadOnly {
		info, err := vfs.Write(ctx, b, "/a", "", "")
		if errors.Is(err, vfs.ErrReadOnly) {
			return "the backend cannot be written: set Config.ReadOnly, or implement vfs.Writer"
		}
		if err == nil && !cfg.NoRemove && errors.Is(vfs.Remove(ctx, b, "/a", info.Revision), vfs.ErrReadOnly) {
			return "the backend cannot remove files: set Config.NoRemove, or implement vfs.Remover"
		}
	}
	if cfg.NoWatch {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(cfg.Patience, defaultPatience))
	defer cancel()
	if errors.Is(vfs.Watch(ctx, b, "/", func(vfs.Event) { cancel() }), errors.ErrUnsupported) {
		return "the backend does not report changes: set Config.NoWatch, or implement vfs.Watcher"
	}
	return ""
}

func check(t *testing.T, cfg Config, some []rule) error {
	t.Helper()
	var all []error
	for _, rule := range some {
		if rule.needs.missing(cfg) != "" {
			continue
		}
		for _, problem := range violations(t, cfg, fixtures[0], rule) {
			all = append(all, fmt.Errorf("%s: %s (rule: %s)", rule.name, problem, rule.text))
		}
	}
	return errors.Join(all...)
}

// Seed writes the files of seed to b, for stores that start empty.
func Seed(t *testing.T, b vfs.Backend, seed map[string]string) {
	t.Helper()
	for path, content := range seed {
		if _, err := vfs.Write(t.Context(), b, path, content, ""); err != nil {
			t.Fatalf("seeding %q: %v", path, err)
		}
	}
}

// rule is one rule of the contract and the function that looks for a breach.
type rule struct {
	name  string // area/what, the subtest's name
	text  string // the rule, in one sentence
	needs need
	run   func(c *checker)
}

// rules are all rules, by area.
var rules = concat(listRules, pageRules, searchRules, batchRules, pathRules, contentRules, writeRules, removeRules, revisionRules,
	raceRules, watchRules, interruptRules, sharedRules, modelRules)

func concat(areas ...[]rule) []rule {
	var all []rule
	for _, area := range areas {
		all = append(all, area...)
	}
	return all
}

// need says what a backend must offer for a rule to apply.
type need uint

const (
	writes need = 1 << iota
	removes
	watches
	peers
	reopens
	builtIn
	spoils
	readOnly
)

// missing returns why a rule does not apply, "" when it does.
func (n need) missing(cfg Config) string {
	for _, c := range []struct {
		need need
		ok   bool
		why  string
	}{
		{writes, !cfg.ReadOnly, "the backend is read-only"},
		{removes, !cfg.NoRemove, "the backend does not remove files"},
		{watches, !cfg.NoWatch, "the backend does not report changes"},
		{peers, cfg.Peer != nil, "the backend cannot be opened twice"},
		{reopens, cfg.Reopen != nil, "the backend does not persist"},
		{spoils, cfg.Spoil != nil, "the backend keeps what it was given"},
		{builtIn, cfg.BuiltIn, "the rule is for built-in backends"},
		{readOnly, cfg.ReadOnly, "the backend can be written"},
	} {
		if n&c.need != 0 && !c.ok {
			return c.why
		}
	}
	return ""
}

// checker runs one rule on one fixture and collects what it finds.
type checker struct {
	t        *testing.T
	cfg      Config
	fixture  fixture
	problems []string
}

// ctx ends with the test.
func (c *checker) ctx() context.Context { return c.t.Context() }

// stop ends a rule early, as t.FailNow ends a test.
type stop struct{}

func violations(t *testing.T, cfg Config, f fixture, r rule) (problems []string) {
	t.Helper()
	c := &checker{t: t, cfg: cfg, fixture: f}
	defer func() {
		if r := recover(); r != nil && r != (stop{}) {
			panic(r)
		}
		problems = c.problems
	}()
	r.run(c)
	return nil
}

// errorf records a problem; only the goroutine of the rule may call it.
func (c *checker) errorf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) fatalf(format string, args ...any) {
	c.errorf(format, args...)
	panic(stop{})
}

// match records a problem unless err matches want; what tells the call.
func (c *checker) match(err, want error, what string, args ...any) {
	if !errors.Is(err, want) {
		c.errorf("%s: error %v, want %q", fmt.Sprintf(what, args...), err, want)
	}
}

// ok stops the rule when err is not nil.
func (c *checker) ok(err error, what string, args ...any) {
	if err != nil {
		c.fatalf("%s: unexpected error: %v", fmt.Sprintf(what, args...), err)
	}
}

// maxBytes returns the size limit to test, or ok false when there is none.
func (c *checker) maxBytes() (int, bool) {
	switch {
	case c.cfg.MaxFileBytes < 0:
		return 0, false
	case c.cfg.MaxFileBytes == 0:
		return 1 << 20, true
	}
	return c.cfg.MaxFileBytes, true
}

func (c *checker) patience() time.Duration { return cmp.Or(c.cfg.Patience, defaultPatience) }

const defaultPatience = 20 * time.Second

// clip shortens text for a message.
func clip(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:80], ""), len(s))
	}
	return fmt.Sprintf("%q", s)
}
