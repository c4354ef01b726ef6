package main

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// storeFlags are the flags of every verb that takes a store.
type storeFlags struct {
	routes []string
	whole  bool // the verb is about all namespaces of a database

	told string // the store of which tellNamespaces has told
}

func (f *storeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.routes, "route", nil, "put another store at a directory: `/prefix=URL[,ro]`, repeatable")
}

// spec reads the URL and the routes without opening anything.
func (f *storeFlags) spec(raw string) (storeurl.Spec, error) {
	u, err := storeurl.Parse(raw)
	if err != nil {
		return storeurl.Spec{}, usagef("%w", err)
	}
	spec := storeurl.Spec{URL: u}
	spec.URL.All = u.All && !f.whole // such a verb is about all of them anyway
	for _, r := range f.routes {
		route, err := storeurl.ParseRoute(r)
		if err != nil {
			return storeurl.Spec{}, usagef("%w", err)
		}
		if slices.ContainsFunc(spec.Routes, func(r storeurl.Route) bool { return r.Prefix == route.Prefix }) {
			return storeurl.Spec{}, usagef("two routes are at %s, leave one of them out", route.Prefix)
		}
		spec.Routes = append(spec.Routes, route)
	}
	return spec, nil
}

// withStore opens a store, runs fn and closes the store, whose error counts
// when fn had none. Errors of package vfs come back as sentences; what a seed
// could not hold is told on standard error.
func (f *storeFlags) withStore(cmd *cobra.Command, raw string, want storeurl.Want, fn func(*storeurl.Store) error) error {
	spec, err := f.spec(raw)
	if err != nil {
		return err
	}
	logger := newLogger(cmd.ErrOrStderr(), slog.LevelWarn, false)
	return withLogger(logger, func(o *storeurl.Opener) error {
		store, err := o.Open(cmd.Context(), spec, want)
		if err != nil {
			return err
		}
		for _, note := range o.Notes() {
			fmt.Fprintln(cmd.ErrOrStderr(), note)
		}
		for _, p := range o.LeftOut() {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out %v\n", p)
		}
		if !f.whole && !want.Create && f.told != raw {
			f.told = raw
			if err := tellNamespaces(cmd, store); err != nil {
				return err
			}
		}
		return explain(fn(store), storeWords(spec))
	})
}

// tellNamespaces says on standard error, of each database of which one namespace is
// seen because its URL names none, where else it holds files; once a day, and to
// programs never, but where that namespace is empty.
func tellNamespaces(cmd *cobra.Command, stores ...*storeurl.Store) error {
	var told []string
	tell := func(text string) {
		if !slices.Contains(told, text) {
			told = append(told, text)
			fmt.Fprintln(cmd.ErrOrStderr(), text)
		}
	}
	for _, s := range stores {
		if s == nil {
			continue
		}
		found, err := s.Elsewhere(cmd.Context())
		for _, e := range found {
			tell(elsewhereText(e))
		}
		if err != nil {
			return err
		}
		if forProgram(cmd) {
			continue // which reads what it named, and would get this with every answer
		}
		found, err = s.Others(cmd.Context())
		for _, e := range found {
			text := fmt.Sprintf("%s holds files in other namespaces too: %s; %s shows all", e.URL, e.Names, shellWord(e.Example.String()))
			if !toldLately(text) {
				tell(text)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forProgram reports whether a verb has a program for a reader.
func forProgram(cmd *cobra.Command) bool {
	for _, name := range []string{"json", "jsonl"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() == "true" {
			return true
		}
	}
	return cmd.Name() == "mcp"
}

// tellGone says on standard error that what was written was kept in memory alone,
// if that is so. The path is canonical.
func tellGone(cmd *cobra.Command, spec storeurl.Spec, path string) {
	if !spec.Lasts(path) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is only in memory, what was written is gone now: name a store of %s to keep it\n", storeWords(spec), storeurl.Databases(" or "))
	}
}

// tellEmpty says on standard error that nothing is shown because there is nothing
// to show, unless tellNamespaces has said more. The store's name goes behind text.
func tellEmpty(cmd *cobra.Command, s *storeurl.Store, text string) error {
	found, err := s.Elsewhere(cmd.Context())
	if err == nil && len(found) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", text, storeWords(s.Spec))
	}
	return err
}

func elsewhereText(e storeurl.Elsewhere) string {
	return fmt.Sprintf("the default namespace of %s holds no files, those that do are %s: name one, as in %s", e.URL, e.Names, shellWord(e.Example.String()))
}

// tellHidden names on standard error what the store holds at or below dir and
// cannot list, so that a list does not pass for complete. It is no failure: the
// verb check is for that.
func tellHidden(cmd *cobra.Command, s *storeurl.Store, dir string) error {
	clean, err := vpath.Clean(dir)
	if err != nil {
		return usagef("%s: %w", dir, err)
	}
	hidden, err := s.Hidden(cmd.Context())
	if err != nil {
		return err
	}
	printHidden(cmd, slices.DeleteFunc(hidden, func(p leftout.Entry) bool { return clean != "/" && !vpath.Within(p.Path, clean) }))
	return nil
}

// tellUnlisted is tellHidden without a walk through every file of every route.
func tellUnlisted(cmd *cobra.Command, s *storeurl.Store, dir string) error {
	clean, err := vpath.Clean(dir)
	if err != nil {
		return usagef("%s: %w", dir, err)
	}
	hidden, err := s.Unlisted(cmd.Context(), clean)
	printHidden(cmd, hidden)
	return err
}

func printHidden(cmd *cobra.Command, hidden []leftout.Entry) {
	for _, p := range hidden {
		fmt.Fprintf(cmd.ErrOrStderr(), "not listed: %v\n", p)
	}
}

// withOpener runs fn and closes what it opened.
func withOpener(fn func(*storeurl.Opener) error) error {
	return withLogger(nil, fn)
}

// withLogger is withOpener with a logger for the stores.
func withLogger(logger *slog.Logger, fn func(*storeurl.Opener) error) error {
	o := storeurl.Opener{Logger: logger}
	err := fn(&o)
	if closeErr := o.Close(); err == nil {
		err = closeErr
	}
	return err
}

// storeWords is a store as arguments of a verb, for commands in messages.
func storeWords(spec storeurl.Spec) string {
	words := shellWord(spec.URL.String())
	for _, r := range spec.Routes {
		words += " --route " + shellWord(r.String())
	}
	return words
}

// shellWord quotes an argument where a shell would not take it literally, so
// that a command in a message can be pasted.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/:.,_-=+@%", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printable quotes a name that holds what a terminal would act on.
func printable(name string) string {
	return visible.Name(name)
}
