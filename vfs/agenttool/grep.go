package agenttool

import (
	"context"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Grep is the name of the tool that finds lines by a text in them.
const Grep = "grep"

type grepTool struct{}

func (grepTool) spec() spec {
	return spec{Grep, "Find lines that contain a literal text.", false, []param{
		{"pattern", "string", "The text to find, taken literally.", true},
		{"path", "string", "File or directory to search; everything when omitted.", false},
		{"ignoreCase", "boolean", "Ignore upper and lower case; true when omitted.", false},
		cursorParam(),
	}, `{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{` + fileProps +
		`,"line":{"type":"integer","description":"One-based line."},"excerpt":{"type":"string"}},"required":["path","revision","line","excerpt"]}},` +
		nextProp + `,"skipped":{"type":"array","items":{"type":"string"},"description":"Files that could not be searched."}},"required":["matches","nextCursor"]}`}
}

// GrepOutput is a page of grep.
type GrepOutput struct {
	Matches    []GrepMatch `json:"matches"`
	NextCursor *string     `json:"nextCursor"`
	// Skipped names files that could not be searched, such as one whose bytes are
	// not text.
	Skipped []string `json:"skipped,omitempty"`
}

// GrepMatch is one line that grep found.
type GrepMatch struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
	Line     int          `json:"line"`    // one-based
	Excerpt  string       `json:"excerpt"` // at most 100 code points around the first hit
}

// Next implements Output.
func (o *GrepOutput) Next() string { return deref(o.NextCursor) }

// Files implements Output.
func (o *GrepOutput) Files() []File {
	var files []File
	for _, m := range o.Matches {
		files = append(files, File{m.Path, m.Revision})
	}
	return files
}

// Clone implements Output.
func (o *GrepOutput) Clone() Output {
	return &GrepOutput{slices.Clone(o.Matches), clone(o.NextCursor), slices.Clone(o.Skipped)}
}

func (o *GrepOutput) text() string {
	b := append(make([]byte, 0, 128+200*len(o.Matches)), `{"matches":[`...)
	for i, m := range o.Matches {
		b = appendComma(b, i)
		b = appendFile(b, m.Path, m.Revision)
		b = strconv.AppendInt(append(b, `,"line":`...), int64(m.Line), 10)
		b = appendString(append(b, `,"excerpt":`...), m.Excerpt)
		b = append(b, '}')
	}
	b = appendCursor(append(b, ']'), o.NextCursor)
	for i, path := range o.Skipped {
		if i == 0 {
			b = append(b, `,"skipped":[`...)
		}
		b = appendString(appendComma(b, i), path)
	}
	if len(o.Skipped) > 0 {
		b = append(b, ']')
	}
	return string(append(b, '}'))
}

const maxPatternUnits = 256

func (grepTool) run(ctx context.Context, c *call, a args) (Result, error) {
	pattern, ignoreCase := a.str("pattern"), a.flag("ignoreCase", true)
	switch units, valid := vpath.Units(pattern), utf8.ValidString(pattern); {
	case units < 1 || units > maxPatternUnits:
		return Result{}, refuse(codes.InvalidArgument, "the pattern has %d UTF-16 code units, send 1 to %d", units, maxPatternUnits)
	case !valid:
		return Result{}, refuse(codes.InvalidArgument, "the pattern is not valid UTF-8, send it as text")
	}
	dir := c.opts.Root
	if path, given := a["path"].(string); given {
		clean, err := vpath.Clean(path)
		if err != nil {
			return Result{}, badPath(path, err)
		}
		if err := c.inside(clean); err != nil {
			return Result{}, err
		}
		dir = clean
	}
	mode := "exact"
	if ignoreCase {
		mode = "fold"
	}
	q := newQuery(Grep, c.opts.Root, dir, mode, pattern)
	m, err := c.resume(q, a.str(cursorName), dir)
	if err != nil {
		return Result{}, err
	}
	g := newGrepper(c, pattern, ignoreCase)
	if err := g.run(ctx, dir, m); err != nil {
		return Result{}, err
	}
	g.settle()
	return g.fit(q)
}

// fit makes the page of what was found.
func (g *grepper) fit(q query) (Result, error) {
	out := &GrepOutput{}
	set := func(n int) string {
		out.Matches, out.Skipped, out.NextCursor = []GrepMatch{}, nil, nil
		for _, item := range g.items[:n] {
			if item.skipped != "" {
				out.Skipped = append(out.Skipped, item.skipped)
			} else {
				out.Matches = append(out.Matches, item.match)
			}
		}
		switch {
		case n < len(g.items):
			out.NextCursor = q.cursor(g.items[n-1].next)
		case g.end != nil:
			out.NextCursor = q.cursor(*g.end)
		}
		return out.text()
	}
	p, ok, err := g.c.largest(min(1, len(g.items)), len(g.items), set)
	if err == nil && !ok && len(g.items) > 0 && g.items[0].skipped == "" {
		// The first match alone is too long: show less of its line.
		whole := g.items[0].match.Excerpt
		shrink := func(size int) string {
			g.items[0].match.Excerpt = whole[:boundary(whole, size)]
			return set(1)
		}
		if p, ok, err = g.c.largest(0, len(whole), shrink); ok {
			shrink(p.size)
			p.size = 1
		}
	}
	switch {
	case err != nil:
		return Result{}, err
	case !ok && len(g.items) > 0:
		return Result{}, g.c.noRoom(g.items[0].next.path)
	case !ok && g.end != nil: // the cursor of an empty page is too long
		return Result{}, g.c.noRoom(g.end.path)
	case !ok:
		return Result{}, g.c.noRoom("")
	}
	set(p.size)
	return Result{out, p.text, p.tokens}, nil
}
