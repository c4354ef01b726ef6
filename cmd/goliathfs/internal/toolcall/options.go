package toolcall

import (
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Options are the limits of a call. A nil field is not given.
type Options struct {
	Root         *string
	MaxTokens    *int
	DefaultLines *int
	MaxLines     *int
	MaxMatches   *int
	MaxFiles     *int
}

// over returns o with what it lacks taken from base.
func (o Options) over(base Options) Options {
	return Options{
		Root:         first(o.Root, base.Root),
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
	root                                                    string
	maxTokens, defaultLines, maxLines, maxMatches, maxFiles int
}

// resolve refuses what package agenttool would take for "not given".
func (o Options) resolve() (limits, error) {
	l := limits{root: "/"}
	if o.Root != nil {
		if *o.Root == "" {
			return l, errors.New("root is empty, give a directory such as /")
		}
		l.root = *o.Root
	}
	for _, f := range []struct {
		name string
		from *int
		to   *int
	}{
		{"maxTokens", o.MaxTokens, &l.maxTokens},
		{"defaultLines", o.DefaultLines, &l.defaultLines},
		{"maxLines", o.MaxLines, &l.maxLines},
		{"maxMatches", o.MaxMatches, &l.maxMatches},
		{"maxFiles", o.MaxFiles, &l.maxFiles},
	} {
		if f.from == nil {
			continue
		}
		if *f.from < 1 {
			return l, fmt.Errorf("%s is %d, it must be at least 1", f.name, *f.from)
		}
		*f.to = *f.from
	}
	return l, nil
}

func (l limits) toolset(b vfs.Backend, writable bool) (*agenttool.Toolset, error) {
	return agenttool.New(agenttool.Options{
		Backend:      b,
		Root:         l.root,
		Writable:     writable,
		DefaultLines: l.defaultLines,
		MaxLines:     l.maxLines,
		MaxMatches:   l.maxMatches,
		MaxFiles:     l.maxFiles,
		MaxTokens:    l.maxTokens,
	})
}
