package agenttool

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

const (
	// scanUnits bounds what one grep call scans, in UTF-16 code units.
	scanUnits    = 65536
	leadUnits    = 30  // of an excerpt before the hit
	excerptRunes = 100 // of an excerpt at most
)

// grepper is one call of grep: what it has found, and how much it scanned.
type grepper struct {
	c       *call
	needle  *needle
	items   []grepItem
	matches int
	units   int
	end     *position // where the next page starts, nil at the end
}

// grepItem is a match, or the path of a file that was skipped.
type grepItem struct {
	match   GrepMatch
	skipped string
	next    position // where a page that ends with this item goes on
}

// run scans files from a mark until a bound is reached or all are done.
func (g *grepper) run(ctx context.Context, dir string, m mark) error {
	files := newLister(g.c, dir, m.path, min(g.c.opts.MaxFiles, leastListed))
	inspected := 0
	visit := func(path string, start func(vfs.File) (int, error)) (done bool, err error) {
		inspected++
		if err := g.file(ctx, path, start); err != nil || g.end != nil {
			return true, err
		}
		if inspected == g.c.opts.MaxFiles || g.units >= scanUnits || g.matches == g.c.opts.MaxMatches {
			if files.more() {
				g.end = &position{path: path}
			}
			return true, nil
		}
		return false, nil
	}
	if m.inside {
		if done, err := visit(m.path, m.resumeLine); done || err != nil {
			return err
		}
	}
	for {
		info, ok, err := files.next(ctx)
		if err != nil || !ok {
			return err
		}
		if done, err := visit(info.Path, nil); done || err != nil {
			return err
		}
	}
}

// resumeLine is resume for a cursor that stands at the start of a line.
func (m mark) resumeLine(f vfs.File) (int, error) {
	at, err := m.resume(f)
	if err == nil && at > 0 && f.Content[at-1] != '\n' {
		err = refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	return at, err
}

// file scans one file, from what start returns if a cursor was inside it.
func (g *grepper) file(ctx context.Context, path string, start func(vfs.File) (int, error)) error {
	f, err := g.c.b.Read(ctx, path)
	switch code := CodeOf(err); {
	case code == codes.NotFound && start != nil:
		return stale(path)
	case code == codes.NotFound: // it went after it was listed
		return nil
	case code == codes.NotText, code == codes.TooLarge:
		g.skip(path)
		return nil
	case err != nil:
		return g.c.fail(ctx, path, err)
	}
	at := 0
	if start != nil {
		f.Path = path
		if at, err = start(f); err != nil {
			return err
		}
	}
	stop := bound(f.Content, at, scanUnits-g.units)
	scan := g.needle.in(f.Content[:stop])
	// Search before counting: the search is what brings a content into the
	// cache fastest.
	hit := scan.find(at)
	units, ascii := countUnits(f.Content[at:stop])
	if !ascii && !utf8.ValidString(f.Content) {
		g.skip(path)
		return nil
	}
	g.units += units
	g.lines(f, path, scan, hit)
	if g.end == nil && stop < len(f.Content) {
		g.end = &position{path, f.Revision, stop}
	}
	return nil
}

func (g *grepper) skip(path string) {
	g.items = append(g.items, grepItem{skipped: path, next: position{path: path}})
}

// bound returns the end of the line, from at on, in which so many units are
// used up, or of the content.
func bound(content string, at, units int) int {
	rest := content[at:]
	if len(rest) < units { // a byte is at most one unit
		return len(content)
	}
	end := unitsEnd(rest, units) // at least 1, for units is
	i := strings.IndexByte(rest[end-1:], '\n')
	if i < 0 {
		return len(content)
	}
	return at + end + i
}

// lines collects the lines of f in which scan finds the needle, the first time
// at hit.
func (g *grepper) lines(f vfs.File, path string, scan *scanner, hit int) {
	text := scan.s
	line, counted := 0, 0 // the number of line feeds before counted
	for at := 0; hit >= 0; hit = scan.find(at) {
		start := strings.LastIndexByte(text[:hit], '\n') + 1
		end := len(text)
		if i := strings.IndexByte(text[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		line += strings.Count(text[counted:start], "\n")
		counted = start
		at = min(end+1, len(text))
		next := position{path: path}
		if at < len(f.Content) {
			next = position{path, f.Revision, at}
		}
		g.items = append(g.items, grepItem{
			match: GrepMatch{path, f.Revision, line + 1, excerpt(text[start:end], hit-start)},
			next:  next,
		})
		if g.matches++; g.matches == g.c.opts.MaxMatches {
			if next.rev != "" {
				g.end = &next
			}
			return
		}
	}
}

// excerpt cuts a line around the hit in it.
func excerpt(line string, hit int) string {
	start := hit
	for units := 0; start > 0 && units < leadUnits; {
		r, size := utf8.DecodeLastRuneInString(line[:start])
		start -= size
		units++
		if r > 0xFFFF {
			units++
		}
	}
	end := start
	for runes := 0; end < len(line) && runes < excerptRunes; runes++ {
		_, size := utf8.DecodeRuneInString(line[end:])
		end += size
	}
	return line[start:end]
}
