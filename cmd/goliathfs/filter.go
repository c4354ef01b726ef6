package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostdir"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/glob"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// filterFlags choose the files that copy and diff are about.
type filterFlags struct {
	include, exclude []string
	all              bool

	taken, left []*glob.Pattern
	matched     atomic.Bool // one of taken has
}

// filterHelp is what the help of a verb says of them.
const filterHelp = `--include GLOB and --exclude GLOB, each as often as needed, take and leave out files by
their path or by a directory that they are in: * and ? stay within a name, ** crosses
directories, and a GLOB that does not begin with / matches anywhere. What is left out
counts as not there on either side. Of a folder of this machine, what its .gitignore
files name and .git are left out, too; --all takes them.`

func (f *filterFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.include, "include", nil, "only files that match `GLOB`, repeatable")
	cmd.Flags().StringArrayVar(&f.exclude, "exclude", nil, "no files that match `GLOB`, repeatable")
	cmd.Flags().BoolVar(&f.all, "all", false, "of a folder, take what its .gitignore files name, and .git")
}

// check reads the flags, whose verb is about two stores.
func (f *filterFlags) check(specs ...storeurl.Spec) (err error) {
	folder := false
	for _, s := range specs {
		folder = folder || s.URL.Scheme == storeurl.Dir
	}
	if f.all && !folder {
		return usagef("--all is for folders, dir:PATH, and neither side is one: leave it out")
	}
	if f.taken, err = compileGlobs("--include", f.include); err != nil {
		return err
	}
	f.left, err = compileGlobs("--exclude", f.exclude)
	return err
}

func compileGlobs(flag string, texts []string) ([]*glob.Pattern, error) {
	var patterns []*glob.Pattern
	for _, text := range texts {
		whole := strings.TrimSuffix(text, "/")
		if !strings.HasPrefix(whole, "/") {
			whole = "/**/" + whole
		}
		p, err := glob.Compile(whole)
		if err == nil && strings.TrimSuffix(text, "/") == "" {
			err = errors.New("it names nothing")
		}
		if err != nil {
			return nil, usagef("%s %q: %w", flag, text, err)
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// skips reports whether the file at a path is left out by --include or --exclude.
func (f *filterFlags) skips(path string) bool {
	if len(f.taken) > 0 {
		if !matchesAny(f.taken, path) {
			return true
		}
		f.matched.Store(true)
	}
	return matchesAny(f.left, path)
}

// tellUnmatched says on standard error that --include names no file of those that were
// looked at: else a mistyped one would pass for nothing to do.
func (f *filterFlags) tellUnmatched(cmd *cobra.Command) {
	if len(f.taken) == 0 || f.matched.Load() {
		return
	}
	words := make([]string, len(f.include))
	for i, text := range f.include {
		words[i] = "--include " + shellWord(text)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "no file matches %s\n", strings.Join(words, " or "))
}

// matchesAny reports whether a pattern matches the path or a directory above it.
func matchesAny(patterns []*glob.Pattern, path string) bool {
	for ; len(patterns) > 0 && path != "/" && path != ""; path = vpath.Dir(path) {
		for _, p := range patterns {
			if p.Match(path) {
				return true
			}
		}
	}
	return false
}

// heed has a folder's .gitignore files read, and with hide what they name left out.
func (f *filterFlags) heed(dir *hostdir.Dir, hide bool) {
	if dir != nil && !f.all {
		dir.ReadGitignore(hide)
	}
}

// skip returns which files a copy or comparison is not about. The error of a folder is
// that of its list, which comes first.
func (f *filterFlags) skip(ctx context.Context, dirs ...*hostdir.Dir) func(path string) bool {
	return func(path string) bool { return f.skips(path) || ignoredBy(ctx, path, dirs...) }
}

// ignoredBy reports whether a .gitignore file of a folder names a file.
func ignoredBy(ctx context.Context, path string, dirs ...*hostdir.Dir) bool {
	for _, d := range dirs {
		if d == nil {
			continue
		}
		if ignored, err := d.Ignored(ctx, path); err == nil && ignored {
			return true
		}
	}
	return false
}

// tellIgnored says on standard error how much of a folder is left out.
func tellIgnored(cmd *cobra.Command, dirs ...*hostdir.Dir) error {
	for _, d := range dirs {
		if d == nil {
			continue
		}
		n, err := d.LeftIgnored(cmd.Context())
		if errors.Is(err, hostdir.ErrIgnoreFile) {
			return fmt.Errorf("%w: mend it, or pass --all to take every file", err)
		}
		if err != nil {
			return err
		}
		if n > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s that .gitignore names, or .git; --all takes all\n", count(n, "file or folder", "files or folders"))
		}
	}
	return nil
}
