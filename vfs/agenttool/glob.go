package agenttool

import (
	"context"
	"slices"

	"github.com/goliathfs/goliathfs/internal/glob"
	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Glob is the name of the tool that finds files by path pattern.
const Glob = "glob"

type globTool struct{}

func (globTool) spec() spec {
	return spec{Glob, "Find files by path pattern: * within a segment, ** across directories, ? for one character.", false, []param{
		{"pattern", "string", "Absolute pattern that starts with /, such as /**/*.md.", true},
		cursorParam(),
	}, `{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{` + fileProps +
		`},"required":["path","revision"]}},` + nextProp + `},"required":["matches","nextCursor"]}`}
}

// GlobOutput is a page of glob.
type GlobOutput struct {
	Matches    []File  `json:"matches"`
	NextCursor *string `json:"nextCursor"`
}

// Next implements Output.
func (o *GlobOutput) Next() string { return deref(o.NextCursor) }

// Files implements Output.
func (o *GlobOutput) Files() []File { return o.Matches }

// Clone implements Output.
func (o *GlobOutput) Clone() Output {
	return &GlobOutput{slices.Clone(o.Matches), clone(o.NextCursor)}
}

func (o *GlobOutput) text() string {
	b := append(make([]byte, 0, 64+80*len(o.Matches)), `{"matches":[`...)
	for i, m := range o.Matches {
		b = appendComma(b, i)
		b = appendFile(b, m.Path, m.Revision)
		b = append(b, '}')
	}
	b = appendCursor(append(b, ']'), o.NextCursor)
	return string(append(b, '}'))
}

func (globTool) run(ctx context.Context, c *call, a args) (Result, error) {
	text := a.str("pattern")
	p, err := glob.Compile(text)
	if err != nil {
		return Result{}, refuse(codes.InvalidArgument, "%s", err)
	}
	q := newQuery(Glob, c.opts.Root, text)
	dir, possible := c.narrow(p.Dir())
	m, err := c.resume(q, a.str(cursorName), dir)
	if err != nil {
		return Result{}, err
	}
	if m.inside {
		return Result{}, refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	matches, end := []File{}, ""
	exact, one := p.Exact()
	switch {
	case !possible || vpath.Check(p.Dir()) != nil: // no file can match
	case one:
		matches, err = c.globExact(ctx, exact)
	default:
		matches, end, err = c.globBelow(ctx, p, dir, m.path)
	}
	if err != nil {
		return Result{}, err
	}
	out := &GlobOutput{}
	set := func(n int) string {
		out.Matches, out.NextCursor = matches[:n], nil
		switch {
		case n < len(matches):
			out.NextCursor = q.cursor(position{path: matches[n-1].Path})
		case end != "":
			out.NextCursor = q.cursor(position{path: end})
		}
		return out.text()
	}
	fit, ok, err := c.largest(min(1, len(matches)), len(matches), set)
	if err != nil {
		return Result{}, err
	}
	if !ok {
		if len(matches) > 0 {
			end = matches[0].Path
		}
		return Result{}, c.noRoom(end)
	}
	set(fit.size)
	return Result{out, fit.text, fit.tokens}, nil
}

// globExact finds the one file that a pattern without wildcards names.
func (c *call) globExact(ctx context.Context, path string) ([]File, error) {
	if vpath.CheckFile(path) != nil || !vpath.Within(path, c.opts.Root) {
		return []File{}, nil
	}
	info, err := vfs.Stat(ctx, c.b, path)
	switch {
	case CodeOf(err) == codes.NotFound:
		return []File{}, nil
	case err != nil:
		return nil, c.fail(ctx, path, err)
	}
	return []File{{info.Path, info.Revision}}, nil
}

// globBelow looks at names until a page is full, and returns after which file the
// next page starts, "" when there is none.
func (c *call) globBelow(ctx context.Context, p *glob.Pattern, dir, after string) (matches []File, end string, err error) {
	shown, names := c.opts.MaxMatches, c.opts.MaxFiles
	most := shown
	if names == 0 { // by default one match more tells whether there is a next page
		most, names = shown+1, maxSearchNames
	}
	matches = []File{}
	walk := p.Walk(c.b, dir, after, min(names, listing.MaxPage))
	for looked := 1; ; looked++ {
		info, match, ok, err := walk.Next(ctx)
		if err != nil {
			return nil, "", c.fail(ctx, dir, err)
		}
		if !ok {
			return matches, "", nil
		}
		if match {
			matches = append(matches, File{info.Path, info.Revision})
		}
		switch {
		case len(matches) > shown:
			return matches[:shown], matches[shown-1].Path, nil
		case (looked == names || len(matches) == most) && walk.More():
			return matches, info.Path, nil
		}
	}
}
