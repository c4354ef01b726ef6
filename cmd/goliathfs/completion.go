package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// completionTime bounds how long a press of the Tab key may look into a store.
const completionTime = time.Second

// completeStores makes a verb complete its STORE arguments, and the paths
// behind the first one from what the store holds.
func completeStores(cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("store"); f != nil {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc("store", func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			return completeURL(word)
		})
	}
	if cmd.ValidArgsFunction != nil {
		return
	}
	kinds := strings.Fields(cmd.Use)[1:]
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		kind := ""
		switch n := len(args); {
		case n < len(kinds):
			kind = kinds[n]
		case len(kinds) > 0 && strings.HasSuffix(kinds[len(kinds)-1], "…]"), len(kinds) > 0 && strings.HasSuffix(kinds[len(kinds)-1], "…"):
			kind = kinds[len(kinds)-1]
		}
		switch strings.Trim(kind, "[]…") {
		case "STORE", "SRC", "DST", "A", "B":
			return completeURL(word)
		case "PATH":
			if at := slices.Index(kinds, "STORE"); at >= 0 && at < len(args) {
				return completePath(cmd, args[at], word)
			}
			return nil, cobra.ShellCompDirectiveDefault
		case "DIR":
			return nil, cobra.ShellCompDirectiveFilterDirs
		case "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeURL completes a scheme, and behind its colon a name of this machine.
func completeURL(word string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	scheme, name, ok := strings.Cut(word, ":")
	if !ok {
		var found []string
		for _, s := range storeurl.Schemes() {
			if strings.HasPrefix(s, word) {
				found = append(found, s)
			}
		}
		return found, more
	}
	if scheme == string(storeurl.TCP) || scheme == string(storeurl.Postgres) || strings.Contains(name, "?") {
		return nil, more
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
	var found []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		full := scheme + ":" + storeurl.Escape(dir+e.Name())
		if e.IsDir() {
			full += "/"
		}
		found = append(found, full)
	}
	return found, more
}

// completePath completes a path from what the store holds one level deep.
func completePath(cmd *cobra.Command, store, word string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	var flags storeFlags
	if routes, err := cmd.Flags().GetStringArray("route"); err == nil {
		flags.routes = routes
	}
	spec, err := flags.spec(store)
	if err != nil {
		return nil, more
	}
	var o storeurl.Opener
	defer o.Close()
	s, err := o.Open(ctx, spec, storeurl.Want{})
	if err != nil {
		return nil, more
	}
	dir := word[:strings.LastIndexByte(word, '/')+1]
	if dir == "" {
		dir = "/"
	}
	var found []string
	for entry, err := range walk.Dir(ctx, s.Backend, dir) {
		if err != nil {
			break
		}
		path := entry.Info.Path
		if entry.Dir {
			path += "/"
		}
		if strings.HasPrefix(path, word) {
			found = append(found, path)
		}
	}
	return found, more
}
