package agenttool

import (
	"strings"
	"unicode/utf8"
)

func (c *call) readFile(in ReadInput) (Result[*ReadOutput], error) {
	var none Result[*ReadOutput]
	path, err := c.file(in.Path)
	if err != nil {
		return none, err
	}
	limit := c.opts.DefaultLines
	if in.Limit != nil {
		limit = *in.Limit
	}
	switch {
	case limit < 1 || limit > c.opts.MaxLines:
		return none, refuse(CodeInvalidArgument, "limit is %d, ask for 1 to %d lines", limit, c.opts.MaxLines)
	case in.Offset != nil && *in.Offset < 0:
		return none, refuse(CodeInvalidArgument, "offset is %d, count lines from 0", *in.Offset)
	case in.Offset != nil && in.Cursor != "":
		return none, refuse(CodeInvalidArgument, "cursor and offset exclude each other, send only one of them")
	}
	q := newQuery(ReadFile, c.opts.Root, path)
	var m mark
	if in.Cursor != "" {
		if m, err = q.decode(in.Cursor); err != nil {
			return none, err
		}
		if !m.inside || m.path != "" {
			return none, refuse(CodeInvalidCursor, "this cursor belongs to another query, repeat the arguments it was given for or start without a cursor")
		}
	}
	f, err := c.read(path)
	if err != nil {
		if m.inside && CodeOf(err) == CodeNotFound {
			err = stale(path)
		}
		return none, err
	}
	start := 0
	switch {
	case m.inside:
		if start, err = m.resume(f); err != nil {
			return none, err
		}
	case in.Offset != nil:
		start = lineStart(f.Content, 0, *in.Offset)
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
func (c *call) excerpt(out *ReadOutput, q query, content string, start, end int) (Result[*ReadOutput], error) {
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
		return Result[*ReadOutput]{}, err
	}
	if !fits {
		return Result[*ReadOutput]{}, refuse(CodeBudgetTooSmall,
			"a result of %d tokens cannot hold one character of %s beside its metadata, tell the user to raise the budget", c.budget, out.Path)
	}
	set(p.size)
	return Result[*ReadOutput]{out, p.text, p.tokens}, nil
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
