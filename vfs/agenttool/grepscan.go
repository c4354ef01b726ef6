package agenttool

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/listing"
	"github.com/goliathfs/goliathfs/internal/needle"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

const (
	leadUnits    = 30  // of an excerpt before the hit
	excerptRunes = 100 // of an excerpt at most
)

// grepper is one call of grep: what it has found, and how much it scanned.
type grepper struct {
	c      *call
	needle *needle.Needle
	bounds grepBounds
	items  []grepItem
	spent  grepBounds
	end    *position // where the next page starts, nil at the end
}

// grepBounds end a call when one of them is reached; 0 is no bound.
type grepBounds struct {
	matches int
	files   int
	units   int // UTF-16 code units, checked after each line
	bytes   int // of content, checked after each file
}

// Where Options.MaxFiles is set, a call scans seedUnits, which is mostly reached within
// a listing of seedPage files.
const (
	seedUnits = 65536
	seedPage  = 16
)

func newGrepper(c *call, pattern string, ignoreCase bool) *grepper {
	g := &grepper{c: c, needle: needle.New(pattern, ignoreCase)}
	if c.opts.MaxFiles > 0 {
		g.bounds = grepBounds{matches: c.opts.MaxMatches, files: c.opts.MaxFiles, units: seedUnits}
	} else { // one match more tells whether there is a next page
		g.bounds = grepBounds{matches: c.opts.MaxMatches + 1, bytes: maxSearchBytes}
	}
	return g
}

// bounded reports whether a call that has spent so much must end.
func (b grepBounds) bounded(spent grepBounds) bool {
	return spent.matches == b.matches || b.files > 0 && spent.files >= b.files ||
		b.units > 0 && spent.units >= b.units || b.bytes > 0 && spent.bytes >= b.bytes
}

// grepItem is a match, or the path of a file that was skipped.
type grepItem struct {
	match   GrepMatch
	skipped string
	next    position // where a page that ends with this item goes on
}

// run scans files from a mark until a bound is reached or all are done.
func (g *grepper) run(ctx context.Context, dir string, m mark) error {
	files := g.files(dir, m.path)
	visit := func(info vfs.Info, f vfs.File, failed error, start func(vfs.File) (int, error)) (done bool, err error) {
		g.spent.files++
		if err := g.file(ctx, info, f, failed, start); err != nil || g.end != nil {
			return true, err
		}
		if !g.bounds.bounded(g.spent) {
			return false, nil
		}
		if files.More() {
			g.end = &position{path: info.Path}
		}
		return true, nil
	}
	if m.inside {
		f, err := g.c.b.Read(ctx, m.path)
		if done, err := visit(vfs.Info{Path: m.path}, f, err, m.resumeLine); done || err != nil {
			return err
		}
	}
	for {
		info, ok, err := files.Next(ctx)
		if err != nil {
			return g.c.fail(ctx, dir, err)
		}
		if !ok {
			return nil
		}
		f, err := files.Read(ctx)
		if done, err := visit(info, f, err, nil); done || err != nil {
			return err
		}
	}
}

// files walks the files to read: by the rule of the seeds all, to count them, else
// those that may hold the needle. For a needle that no line has there is nothing to
// ask but what is no text.
func (g *grepper) files(dir, after string) *listing.Lister {
	switch {
	case g.bounds.files > 0:
		return listing.New(g.c.b, listing.All, dir, after, min(g.bounds.files, seedPage))
	case g.needle.Nowhere():
		return listing.New(g.c.b, listing.All, dir, after, listing.MaxPage)
	}
	return listing.New(g.c.b, listing.Holding(g.needle.Text(), g.needle.Fold()), dir, after, listing.MaxPage)
}

// resumeLine is resume for a cursor that stands at the start of a line.
func (m mark) resumeLine(f vfs.File) (int, error) {
	at, err := m.resume(f)
	if err == nil && at > 0 && f.Content[at-1] != '\n' {
		err = refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	return at, err
}

// file scans one file that was read, or could not be, from what start returns if a
// cursor was inside it.
func (g *grepper) file(ctx context.Context, info vfs.Info, f vfs.File, err error, start func(vfs.File) (int, error)) error {
	path := info.Path
	switch code := CodeOf(err); {
	case code == codes.NotFound && start != nil:
		return stale(path)
	case code == codes.NotFound: // it went after it was listed
		return nil
	case code == codes.NotText, code == codes.TooLarge:
		g.spent.bytes += int(max(info.Size, 0))
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
	stop := len(f.Content)
	if g.bounds.units > 0 {
		stop = bound(f.Content, at, g.bounds.units-g.spent.units)
	}
	// Search before counting: the search is what brings a content into the
	// cache fastest.
	found := g.search(f, path, at, stop)
	if !g.count(f.Content, at, stop) {
		g.skip(path)
		return nil
	}
	g.items = append(g.items, found...)
	g.spent.matches += len(found)
	switch {
	case g.spent.matches == g.bounds.matches:
		if next := g.items[len(g.items)-1].next; next.rev != "" {
			g.end = &next
		}
	case stop < len(f.Content):
		g.end = &position{path, f.Revision, stop}
	}
	return nil
}

// search returns the lines of f between two bytes that hold the needle, no more than
// the call still takes.
func (g *grepper) search(f vfs.File, path string, at, stop int) (found []grepItem) {
	most := g.bounds.matches - g.spent.matches
	for line := range g.needle.Lines(f.Content[:stop], at) {
		next := position{path: path}
		if line.End+1 < len(f.Content) {
			next = position{path, f.Revision, line.End + 1}
		}
		text := f.Content[line.Start:line.End]
		found = append(found, grepItem{
			match: GrepMatch{path, f.Revision, line.Number, excerpt(text, line.Hit-line.Start)},
			next:  next,
		})
		if len(found) == most {
			break
		}
	}
	return found
}

// count adds content[at:stop] to what is spent, false if the content is no text.
func (g *grepper) count(content string, at, stop int) bool {
	g.spent.bytes += len(content)
	if g.bounds.units == 0 {
		return utf8.ValidString(content)
	}
	units, ascii := countUnits(content[at:stop])
	if !ascii && !utf8.ValidString(content) {
		return false
	}
	g.spent.units += units
	return true
}

func (g *grepper) skip(path string) {
	g.items = append(g.items, grepItem{skipped: path, next: position{path: path}})
}

// settle ends the page before the match that is one too many, and between two files
// where nothing more of the first would be shown.
func (g *grepper) settle() {
	if g.bounds.files > 0 { // the seeds look no further than the page
		return
	}
	for i := 1; i < len(g.items); i++ {
		if before := &g.items[i-1].next; before.path != g.items[i].next.path {
			*before = position{path: before.path}
		}
	}
	if g.spent.matches > g.c.opts.MaxMatches {
		shown := len(g.items) - 1
		g.items, g.end = g.items[:shown], &g.items[shown-1].next
	}
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
