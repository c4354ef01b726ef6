package toolcall

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/tiktoken"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Options are the limits of a call. A nil field is not given.
type Options struct {
	Root         *string
	Tokenizer    *string // one of tiktoken.Names
	MaxTokens    *int
	DefaultLines *int
	MaxLines     *int
	MaxMatches   *int
	MaxFiles     *int
}

// orElse returns o with what it lacks taken from base.
func (o Options) orElse(base Options) Options {
	return Options{
		Root:         first(o.Root, base.Root),
		Tokenizer:    first(o.Tokenizer, base.Tokenizer),
		MaxTokens:    first(o.MaxTokens, base.MaxTokens),
		DefaultLines: first(o.DefaultLines, base.DefaultLines),
		MaxLines:     first(o.MaxLines, base.MaxLines),
		MaxMatches:   first(o.MaxMatches, base.MaxMatches),
		MaxFiles:     first(o.MaxFiles, base.MaxFiles),
	}
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// limits are resolved Options, comparable so that toolsets can be kept by them.
// A zero field means the default of package agenttool.
type limits struct {
	root, tokenizer                                         string
	maxTokens, defaultLines, maxLines, maxMatches, maxFiles int
}

// OptionError says of one option why it cannot be.
type OptionError struct {
	Name string // as in a request
	Text string // the rest of the sentence
}

func (e *OptionError) Error() string { return e.Name + " " + e.Text }

// resolve refuses what package agenttool would refuse, or take for "not given".
func (o Options) resolve() (limits, error) {
	l := limits{root: "/", tokenizer: tiktoken.Estimate}
	if o.Root != nil {
		if *o.Root == "" {
			return l, &OptionError{"root", "is empty, give a directory such as /"}
		}
		if _, err := vpath.Clean(*o.Root); err != nil {
			return l, &OptionError{"root", fmt.Sprintf("is %q, give a directory such as /: %v", *o.Root, err)}
		}
		l.root = *o.Root
	}
	if o.Tokenizer != nil {
		if !slices.Contains(tiktoken.Names(), *o.Tokenizer) {
			return l, &OptionError{"tokenizer", fmt.Sprintf("is %q, it must be one of %s", *o.Tokenizer, strings.Join(tiktoken.Names(), ", "))}
		}
		l.tokenizer = *o.Tokenizer
	}
	for _, f := range []struct {
		name string
		from *int
		to   *int
		most int
	}{
		{"maxTokens", o.MaxTokens, &l.maxTokens, 1 << 30},
		{"defaultLines", o.DefaultLines, &l.defaultLines, 1000},
		{"maxLines", o.MaxLines, &l.maxLines, 1000},
		{"maxMatches", o.MaxMatches, &l.maxMatches, 100},
		{"maxFiles", o.MaxFiles, &l.maxFiles, 1024},
	} {
		if f.from == nil {
			continue
		}
		if *f.from < 1 || *f.from > f.most {
			return l, &OptionError{f.name, fmt.Sprintf("is %d, it must be from 1 to %d", *f.from, f.most)}
		}
		*f.to = *f.from
	}
	return l, nil
}

func (l limits) toolset(b vfs.Backend, writable bool) (*agenttool.Toolset, error) {
	opts, err := l.options(b, writable)
	if err != nil {
		return nil, err
	}
	return agenttool.New(opts)
}

func (l limits) options(b vfs.Backend, writable bool) (agenttool.Options, error) {
	count, err := tiktoken.Named(l.tokenizer)
	return agenttool.Options{
		Backend:      b,
		Root:         l.root,
		Writable:     writable,
		DefaultLines: l.defaultLines,
		MaxLines:     l.maxLines,
		MaxMatches:   l.maxMatches,
		MaxFiles:     l.maxFiles,
		MaxTokens:    l.maxTokens,
		CountTokens:  count,
	}, err
}

// Toolset returns the options of a toolset over one store, or an error that
// names the one that is out of range.
func (o Options) Toolset(b vfs.Backend, writable bool) (agenttool.Options, error) {
	l, err := o.resolve()
	if err != nil {
		return agenttool.Options{}, err
	}
	return l.options(b, writable)
}
