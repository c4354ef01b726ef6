package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/internal/needle"
	"github.com/goliathfs/goliathfs/vfs"
)

type grepOptions struct {
	storeFlags
	ignoreCase    bool
	lineNumber    bool
	files, counts bool
	context       int
	allNamespaces bool
	json          bool
}

func newGrep() *cobra.Command {
	var o grepOptions
	cmd := &cobra.Command{
		Use:        "grep TEXT STORE [PATH…]",
		SuggestFor: []string{"search"},
		Short:      "Find the lines that hold a text",
		Long: `Print the lines that hold TEXT, taken literally, of the files at and below each
PATH (default /), as path:line:text. On a terminal the lines stand under the name of
their file, in colour unless NO_COLOR is set. Of a line over 4,096 bytes the part
around the match is shown. A file that is no text is named on standard error.

-i takes for equal what differs by Unicode's simple case folding alone, as the
agent's grep does. --all-namespaces searches every namespace of a
database and prints NAMESPACE:path:line:text.

Exit status: 0 a line was found, 1 none was, 2 wrong use or a failure.`,
		Example: `  goliathfs grep basil badger:./store /docs
  goliathfs grep -i -C 2 todo unix:./agent.sock
  goliathfs grep --json --all-namespaces error sqlite:app.db | jq -r .path`,
		GroupID: groupLook,
		Args:    o.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return searched(o.withStore(cmd, args[1], storeurl.Want{}, func(s *storeurl.Store) error {
				text := storeurl.PasswordsIn(cmd.Context()).Original(args[0]) // it may look like a store
				return o.run(cmd, s, text, orRoot(args[2:]))
			}))
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore upper and lower case")
	f.BoolVarP(&o.lineNumber, "line-number", "n", true, "show the number of each line; -n=false leaves it out")
	f.BoolVarP(&o.files, "files-with-matches", "l", false, "print the path of each file with a match, and no lines")
	f.BoolVarP(&o.counts, "count", "c", false, "print path:count of each file with a match, and no lines")
	f.IntVarP(&o.context, "context", "C", 0, "show so many `lines` before and after each match")
	f.BoolVar(&o.allNamespaces, "all-namespaces", false, "search every namespace of a database")
	f.BoolVar(&o.json, "json", false, "print one JSON object a match")
	return cmd
}

func (o *grepOptions) checkArgs(cmd *cobra.Command, args []string) error {
	if err := takes(2, -1)(cmd, args); err != nil {
		return err
	}
	text := args[0]
	if _, err := storeurl.Parse(args[1]); err != nil {
		if _, err := storeurl.Parse(text); err == nil {
			return usagef("the text to find goes before the store, write goliathfs grep %s %s", shellWord(args[1]), shellWord(text))
		}
	}
	switch {
	case text == "":
		return usagef("the text to find is empty, and every line holds that; goliathfs find STORE '/**' lists the files")
	case !utf8.ValidString(text):
		return usagef("the text to find is not valid UTF-8, and neither is any file")
	case strings.Contains(text, "\n"):
		return usagef("the text to find holds a line feed, and a match lies within a line: search for one line of it")
	case o.files && o.counts:
		return usagef("-l and -c exclude each other, leave one of them out")
	case o.context < 0:
		return usagef("-C %d is below 0, give the number of lines around a match", o.context)
	case o.context > 0 && (o.files || o.counts || o.json):
		return usagef("-C shows lines around a match, and -l, -c and --json do not: leave one of them out")
	case o.allNamespaces && len(o.routes) > 0:
		return usagef("--all-namespaces searches one database as it is, leave out --route")
	}
	if u, err := storeurl.Parse(args[1]); err == nil && o.allNamespaces && u.Namespace != "" {
		return usagef("%s names one namespace and --all-namespaces means all, leave one of them out", shellWord(args[1]))
	}
	o.whole = o.allNamespaces
	return nil
}

func (o *grepOptions) run(cmd *cobra.Command, s *storeurl.Store, text string, paths []string) error {
	g := &grep{o: o, cmd: cmd, needle: needle.New(text, o.ignoreCase), out: newMatchPrinter(cmd, o)}
	err := g.everywhere(cmd.Context(), s, paths)
	if flushErr := g.out.Flush(); err == nil {
		err = flushErr
	}
	if err == nil && !g.found {
		return errReported // nothing was found, and that is no error to tell
	}
	return err
}

// grep is one search.
type grep struct {
	o      *grepOptions
	cmd    *cobra.Command
	needle *needle.Needle
	out    *matchPrinter
	found  bool
}

// everywhere searches the store, or each namespace of it.
func (g *grep) everywhere(ctx context.Context, s *storeurl.Store, paths []string) error {
	if !g.o.allNamespaces {
		for _, path := range paths {
			if err := tellUnlisted(g.cmd, s, path); err != nil {
				return err
			}
		}
		missing, err := g.paths(ctx, s.Backend, paths)
		if err == nil && len(missing) > 0 {
			err = nothingAt(strings.Join(missing, ", "), s)
		}
		return err
	}
	if _, err := spacesOf(s); err != nil {
		return err
	}
	return s.Parts[0].EachNamespace(ctx, func(name string, files vfs.Backend) error {
		g.out.namespace = name
		_, err := g.paths(ctx, files, paths)
		return err
	})
}

// paths searches at and below each path, and returns those where nothing is.
func (g *grep) paths(ctx context.Context, b vfs.Backend, paths []string) (missing []string, err error) {
	for _, path := range paths {
		looked, err := g.below(ctx, b, path)
		if err != nil {
			return nil, err
		}
		if looked || isAt("/", path) {
			continue
		}
		page, err := vfs.List(ctx, b, path, vfs.ListOptions{Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(page.Files) == 0 {
			missing = append(missing, path)
		}
	}
	return missing, nil
}

// below searches the files that may hold the text, and reports whether there were
// any.
func (g *grep) below(ctx context.Context, b vfs.Backend, path string) (looked bool, err error) {
	files := listing.New(b, listing.Holding(g.needle.Text(), g.needle.Fold()), path, "", listing.MaxPage)
	for {
		info, ok, err := files.Next(ctx)
		if err != nil || !ok {
			return looked, err
		}
		looked = true
		f, err := files.Read(ctx)
		if err := g.file(info.Path, f, err); err != nil {
			return looked, err
		}
	}
}

// file searches a file that was read, or could not be.
func (g *grep) file(path string, f vfs.File, err error) error {
	switch {
	case errors.Is(err, vfs.ErrNotFound): // it went after it was listed
		return nil
	case errors.Is(err, vfs.ErrNotText), err == nil && !utf8.ValidString(f.Content):
		fmt.Fprintf(g.cmd.ErrOrStderr(), "not searched: %s: it is not text\n", g.out.name(path))
		return nil
	case err != nil:
		return &fs.PathError{Op: "read", Path: path, Err: err}
	}
	var lines []needle.Line
	for line := range g.needle.Lines(f.Content, 0) {
		lines = append(lines, line)
		if g.o.files {
			break
		}
	}
	if len(lines) == 0 {
		return nil
	}
	g.found = true
	return g.out.file(f, g.needle, lines)
}

// searched makes an error of a search one that does not pass for "nothing found".
func searched(err error) error {
	if err == nil || errors.Is(err, errReported) {
		return err
	}
	return &searchError{err}
}

// searchError is a search that failed: exit status 2, for 1 says that there is
// nothing to find.
type searchError struct{ err error }

func (e *searchError) Error() string { return e.err.Error() }
func (e *searchError) Unwrap() error { return e.err }
