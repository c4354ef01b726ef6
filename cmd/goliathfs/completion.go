package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// completionTime bounds how long a press of the Tab key may look into a store.
const completionTime = time.Second

// more says that the word may go on, and that no file of this machine is meant.
const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp

// completeStores makes a verb, and those below it, complete its STORE arguments, the
// paths behind the first one from what the store holds, and its flags.
func completeStores(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		completeStores(below)
	}
	for _, name := range []string{"store", "to"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || name == "to" && cmd.Name() == "journal" {
			continue
		}
		// It fails only for a flag that does not exist, or is completed already.
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return completeURL(cmd, word)
		})
	}
	if cmd.Flags().Lookup("route") != nil {
		_ = cmd.RegisterFlagCompletionFunc("route", completeRoute)
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = completeArguments(strings.Fields(cmd.Use)[1:])
	}
}

// completeArguments completes what the Use line of a verb names.
func completeArguments(kinds []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		kind := ""
		switch n, last := len(args), len(kinds)-1; {
		case n <= last:
			kind = kinds[n]
		case last >= 0 && strings.Contains(kinds[last], "…"):
			kind = kinds[last]
		}
		switch strings.Trim(kind, "[]…") {
		case "STORE", "SRC", "DST", "A", "B":
			return completeURL(cmd, word)
		case "PATH":
			if at := slices.Index(kinds, "STORE"); at >= 0 && at < len(args) {
				return completePath(cmd, args[at], word)
			}
			if cmd.Name() == "log" {
				return completePath(cmd, storeurl.URL{Scheme: storeurl.Journal, Target: args[0]}.String(), word)
			}
			return nil, cobra.ShellCompDirectiveDefault
		case "DIR":
			if cmd.Name() == "unmount" {
				return completeMount(cmd, args, word)
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		case "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// mayName reports whether a name may be offered. One that a person does not see as it
// is never may; one that a shell acts on only to those who quote it.
func mayName(ctx context.Context, name string) bool {
	if strings.ContainsFunc(name, visible.Hidden) || strings.TrimSpace(name) != name {
		return false
	}
	if quoted, _ := ctx.Value(anyName{}).(bool); quoted {
		return true
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._,@%+-=:?*", r)
	})
}

// completeURL completes a scheme, behind its colon a name of this machine, and behind
// that a namespace, or a revision of a journal.
func completeURL(cmd *cobra.Command, word string) ([]string, cobra.ShellCompDirective) {
	scheme, name, ok := strings.Cut(word, ":")
	var found []string
	if !ok {
		for _, s := range storeurl.Schemes() {
			if strings.HasPrefix(s, word) {
				found = append(found, s)
			}
		}
		return found, more
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	switch {
	case scheme == string(storeurl.TCP), scheme == string(storeurl.Postgres):
		return nil, more
	case scheme == string(storeurl.Journal) && strings.Contains(name, "@"):
		return completeMoment(ctx, word), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(name, "?"):
		return completeNamespace(ctx, word), cobra.ShellCompDirectiveNoFileComp
	}
	dir, prefix := filepath.Split(name)
	from := dir
	if from == "" {
		from = "."
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, more
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		full := scheme + ":" + storeurl.Escape(dir+e.Name())
		if e.IsDir() {
			full += "/"
		}
		if mayName(ctx, full) {
			found = append(found, full)
		}
	}
	return found, more
}

// completeNamespace completes the namespaces of a database behind its name.
func completeNamespace(ctx context.Context, word string) []string {
	const parameter = "?namespace="
	base, query, _ := strings.Cut(word, "?")
	if !strings.HasPrefix("namespace=", query) && !strings.HasPrefix(query, "namespace=") {
		return nil
	}
	var found []string
	_ = withStoreOf(ctx, base, nil, func(s *storeurl.Store) error {
		namespaced, ok := s.Base.(interface {
			Namespaces(context.Context) ([]string, error)
		})
		if !ok {
			return nil
		}
		names, err := namespaced.Namespaces(ctx)
		for i, name := range append(names, "*") {
			value := name
			if i < len(names) {
				value = strings.ReplaceAll(storeurl.Escape(name), "*", "%2A")
			}
			if mayName(ctx, value) {
				found = append(found, base+parameter+value)
			}
		}
		return err
	})
	return found
}

var _ interface {
	Namespaces(context.Context) ([]string, error)
} = database.Database(nil)

// mostMoments is how many revisions are offered behind a journal's name.
const mostMoments = 50

// completeMoment offers the last revisions of a journal, with time and path.
func completeMoment(ctx context.Context, word string) []string {
	u, err := storeurl.Parse(word[:strings.LastIndexByte(word, '@')])
	if err != nil {
		return nil
	}
	h, err := storeurl.OpenJournal(u.Target)
	if err != nil {
		return nil
	}
	defer h.Close()
	var found []string
	for e, err := range h.Log(ctx, "/") {
		if err != nil || len(found) == mostMoments {
			break
		}
		u.Moment = string(e.Revision)
		if e.Kind == journalfs.Write && mayName(ctx, u.String()) {
			found = append(found, u.String()+"\t"+timeText(e.Time)+" "+printable(e.Path))
		}
	}
	return found
}

// completeRoute completes the URL behind the prefix of a route.
func completeRoute(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	prefix, url, ok := strings.Cut(word, "=")
	if !ok {
		return nil, more
	}
	found, directive := completeURL(cmd, url)
	for i := range found {
		found[i] = prefix + "=" + found[i]
	}
	return found, directive
}

// withStoreOf opens a store for a moment. What goes wrong is told to no one.
func withStoreOf(ctx context.Context, store string, routes []string, fn func(*storeurl.Store) error) error {
	flags := storeFlags{routes: routes}
	spec, err := flags.spec(store)
	if err != nil {
		return err
	}
	return withOpener(func(o *storeurl.Opener) error {
		s, err := o.Open(ctx, spec, storeurl.Want{})
		if err != nil {
			return err
		}
		return fn(s)
	})
}

// completePath completes a path from what the store holds one level deep.
func completePath(cmd *cobra.Command, store, word string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	routes, _ := cmd.Flags().GetStringArray("route") // some verbs have none
	dir := word[:strings.LastIndexByte(word, '/')+1]
	if dir == "" {
		dir = "/"
	}
	var found []string
	_ = withStoreOf(ctx, store, routes, func(s *storeurl.Store) error {
		for entry, err := range walk.Dir(ctx, s.Backend, dir) {
			if err != nil {
				return err
			}
			path := entry.Info.Path
			if entry.Dir {
				path += "/"
			}
			if strings.HasPrefix(path, word) && mayName(ctx, path) {
				found = append(found, path)
			}
		}
		return nil
	})
	return found, more
}

// completeMount completes the directories at which stores are mounted.
func completeMount(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	mounts, err := fusebridge.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	here, _ := os.Getwd() // without it only whole names are offered
	var found []string
	for _, m := range mounts {
		names := []string{m.Dir}
		if rel, err := filepath.Rel(here, m.Dir); err == nil && here != "" && !strings.HasPrefix(rel, "..") {
			names = append(names, rel, "./"+rel)
		}
		for _, name := range names {
			if strings.HasPrefix(name, word) && mayName(cmd.Context(), name) && !slices.Contains(args, name) {
				found = append(found, name+"\t"+printable(m.Name))
				break
			}
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeScenario completes the names of scenarios, as regular expressions.
func completeScenario(kinds func() (agentsim.Kind, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		runner := agentsim.Runner{Paths: args}
		if kind, err := kinds(); err == nil {
			runner.Kinds = append(runner.Kinds, kind)
		}
		list, err := runner.List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []string
		for _, l := range list {
			if name := regexp.QuoteMeta(l.Name); mayName(cmd.Context(), name) {
				found = append(found, name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
