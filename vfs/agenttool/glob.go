package agenttool

import (
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func (c *call) glob(in GlobInput) (Result[*GlobOutput], error) {
	var none Result[*GlobOutput]
	p, err := compile(in.Pattern)
	if err != nil {
		return none, err
	}
	q := newQuery(Glob, c.opts.Root, in.Pattern)
	dir, possible := c.narrow(p.dir())
	m, err := c.resume(q, in.Cursor, dir)
	if err != nil {
		return none, err
	}
	if m.inside {
		return none, refuse(CodeInvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	matches, end := []GlobMatch{}, ""
	switch {
	case !possible || vpath.Check(p.dir()) != nil: // no file can match
	case p.exact:
		matches, err = c.globExact(p.prefix)
	default:
		matches, end, err = c.globBelow(p, dir, m.path)
	}
	if err != nil {
		return none, err
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
		return none, err
	}
	if !ok {
		if len(matches) > 0 {
			end = matches[0].Path
		}
		return none, c.noRoom(end)
	}
	set(fit.size)
	return Result[*GlobOutput]{out, fit.text, fit.tokens}, nil
}

// globExact finds the one file that a pattern without wildcards names.
func (c *call) globExact(path string) ([]GlobMatch, error) {
	if vpath.CheckFile(path) != nil || !vpath.Within(path, c.opts.Root) {
		return []GlobMatch{}, nil
	}
	info, err := vfs.Stat(c.ctx, c.b, path)
	switch {
	case CodeOf(err) == CodeNotFound:
		return []GlobMatch{}, nil
	case err != nil:
		return nil, c.fail(path, err)
	}
	return []GlobMatch{{info.Path, info.Revision}}, nil
}

// globBelow inspects files until a page is full, and returns the last file
// inspected when others may follow. Of a directory in which nothing can match
// it inspects one file.
func (c *call) globBelow(p *pattern, dir, after string) (matches []GlobMatch, end string, err error) {
	matches = []GlobMatch{}
	files := newLister(c, dir, after, min(c.opts.MaxFiles, 256))
	for inspected := 1; ; inspected++ {
		info, ok, err := files.next()
		if err != nil || !ok {
			return matches, "", err
		}
		if !strings.HasPrefix(info.Path, p.prefix) && vpath.Compare(info.Path, p.prefix) > 0 {
			return matches, "", nil // all that could match has been seen
		}
		ok, dead := p.match(info.Path)
		if ok && vpath.Within(info.Path, c.opts.Root) {
			matches = append(matches, GlobMatch{info.Path, info.Revision})
		}
		if dead != "" {
			files.skip(dead)
		}
		if (inspected == c.opts.MaxFiles || len(matches) == c.opts.MaxMatches) && files.more() {
			return matches, info.Path, nil
		}
	}
}
