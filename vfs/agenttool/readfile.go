package agenttool

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// ReadFile is the name of the tool that reads an excerpt of a file.
const ReadFile = "readFile"

type readTool struct{}

func (readTool) spec() spec {
	return spec{ReadFile, "Read an excerpt of a file; nextCursor in the result continues it.", false, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"offset", "integer", "Zero-based line to start at; not together with cursor.", false},
		{"limit", "integer", "How many lines to read.", false},
		cursorParam(),
	}, `{"type":"object","properties":{` + fileProps +
		`,"line":{"type":"integer","description":"One-based line of the first character."}` +
		`,"continued":{"type":"boolean","description":"The excerpt starts inside that line."},"content":{"type":"string"},` +
		nextProp + `},"required":["path","revision","line","continued","content","nextCursor"]}`}
}

// ReadOutput is an excerpt of a file.
type ReadOutput struct {
	Path       string       `json:"path"`
	Revision   vfs.Revision `json:"revision"`
	Line       int          `json:"line"`      // one-based line of the first character
	Continued  bool         `json:"continued"` // the excerpt starts inside that line
	Content    string       `json:"content"`
	NextCursor *string      `json:"nextCursor"`
}

// Next implements Output.
func (o *ReadOutput) Next() string { return deref(o.NextCursor) }

// Files implements Output.
func (o *ReadOutput) Files() []File { return []File{{o.Path, o.Revision}} }

// Clone implements Output.
func (o *ReadOutput) Clone() Output {
	c := *o
	c.NextCursor = clone(o.NextCursor)
	return &c
}

// text is one line of JSON without the content, then the content as it is, so
// that a model sees and copies the file's own bytes.
func (o *ReadOutput) text() string {
	b := appendFile(nil, o.Path, o.Revision)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(o.Line), 10)
	b = strconv.AppendBool(append(b, `,"continued":`...), o.Continued)
	b = appendCursor(b, o.NextCursor)
	return string(append(b, "}\n"...)) + o.Content
}

func (readTool) run(ctx context.Context, c *call, a args) (Result, error) {
	path, err := c.file(a.str("path"))
	if err != nil {
		return Result{}, err
	}
	limit, given := a.integer("limit")
	if !given {
		limit = c.opts.DefaultLines
	}
	offset, skips := a.integer("offset")
	cursor := a.str(cursorName)
	switch {
	case limit < 1 || limit > c.opts.MaxLines:
		return Result{}, refuse(codes.InvalidArgument, "limit is %d, ask for 1 to %d lines", limit, c.opts.MaxLines)
	case skips && offset < 0:
		return Result{}, refuse(codes.InvalidArgument, "offset is %d, count lines from 0", offset)
	case skips && cursor != "":
		return Result{}, refuse(codes.InvalidArgument, "cursor and offset exclude each other, send only one of them")
	}
	q := newQuery(ReadFile, c.opts.Root, path)
	var m mark
	if cursor != "" {
		if m, err = q.decode(cursor); err != nil {
			return Result{}, err
		}
		if !m.inside || m.path != "" {
			return Result{}, refuse(codes.InvalidCursor, "this cursor belongs to another query, repeat the arguments it was given for or start without a cursor")
		}
	}
	f, err := c.read(ctx, path)
	if err != nil {
		if m.inside && CodeOf(err) == codes.NotFound {
			err = stale(path)
		}
		return Result{}, err
	}
	start := 0
	switch {
	case m.inside:
		if start, err = m.resume(f); err != nil {
			return Result{}, err
		}
	case skips:
		start = lineStart(f.Content, 0, offset)
	}
	out := &ReadOutput{
		Path:      path,
		Revision:  f.Revision,
		Line:      1 + strings.Count(f.Content[:start], "\n"),
		Continued: start > 0 && f.Content[start-1] != '\n',
	}
	return c.excerpt(out, q, f.Content, start, lineStart(f.Content, start, limit))
}

// excerpt fills out with as much of content[start:end] as fits.
func (c *call) excerpt(out *ReadOutput, q query, content string, start, end int) (Result, error) {
	set := func(size int) string {
		stop := boundary(content, start+size)
		out.Content, out.NextCursor = content[start:stop], nil
		if stop < len(content) {
			out.NextCursor = q.cursor(position{rev: out.Revision, offset: stop})
		}
		return out.text()
	}
	_, first := utf8.DecodeRuneInString(content[start:end])
	p, fits, err := c.largest(first, end-start, set)
	if err != nil {
		return Result{}, err
	}
	if !fits {
		return Result{}, refuse(codes.BudgetTooSmall,
			"a result of %d tokens cannot hold one character of %s beside its metadata, tell the user to raise the budget", c.budget, out.Path)
	}
	set(p.size)
	return Result{out, p.text, p.tokens}, nil
}

// lineStart returns where the line starts that is n lines after the one at
// from, or the end of s.
func lineStart(s string, from, n int) int {
	for ; n > 0; n-- {
		i := strings.IndexByte(s[from:], '\n')
		if i < 0 {
			return len(s)
		}
		from += i + 1
	}
	return from
}
