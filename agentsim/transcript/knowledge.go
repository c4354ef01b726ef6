package transcript

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Partial is a seed of which not everything was shown.
type Partial struct {
	Path string
	Why  string // what is known of it
}

// knowledge is what calls and their results tell about the files as they were
// before the agent changed them.
type knowledge struct {
	files   map[string]*fileKnowledge
	changed map[string]*Call    // by which call of the agent: what is told later is not how it was
	pages   map[string]*segment // by the cursor that continues them
}

type fileKnowledge struct {
	whole    *string
	segments []*segment
	lines    map[int]string // that searches have shown, cut where they are long
	holds    []string       // texts that were replaced, so that they were there
	inserted string         // what the edits of one call have put in their place
}

// segment is a part of a file that was read without a gap.
type segment struct {
	line  int // of its first character, one-based
	text  string
	inner bool // it starts inside that line
	end   bool // it reaches the end of the file
	more  bool // it is told that the file goes on behind it
}

func newKnowledge() *knowledge {
	return &knowledge{files: map[string]*fileKnowledge{}, changed: map[string]*Call{}, pages: map[string]*segment{}}
}

// of returns what is known of a file that exists; nil when the agent has changed
// it, or no file can be there.
func (k *knowledge) of(path string) *fileKnowledge {
	clean, err := vpath.CleanFile(path)
	if err != nil || k.changed[clean] != nil {
		return nil
	}
	f := k.files[clean]
	if f == nil {
		f = &fileKnowledge{lines: map[int]string{}}
		k.files[clean] = f
	}
	return f
}

func (k *knowledge) change(path string, by *Call) {
	if clean, err := vpath.CleanFile(path); err == nil && k.changed[clean] == nil {
		k.changed[clean] = by
	}
}

// learn takes in one call with its result.
func (k *knowledge) learn(s step) {
	if s.native {
		k.learnOurs(s)
		return
	}
	path, _ := s.args["path"].(string)
	if s.call.Failed {
		return
	}
	file := s.call.file
	switch s.tool {
	case agenttool.ReadFile:
		if f := k.of(path); f != nil {
			f.learnRead(s, file)
		}
	case agenttool.Grep, agenttool.Glob:
		k.learnNames(s.call.Result)
	default:
		if clean, err := vpath.CleanFile(path); err == nil && k.changed[clean] == s.call && k.files[clean] != nil {
			k.files[clean].learnFurther(s) // one call of several edits
			return
		}
		exists := file != nil && file.whole || s.tool != agenttool.WriteFile || k.files[path] != nil
		if exists {
			if f := k.of(path); f != nil {
				f.learnEdit(s, file)
			}
		}
		k.change(path, s.call)
	}
}

func (f *fileKnowledge) learnRead(s step, file *fileContent) {
	switch {
	case file != nil && file.whole:
		f.whole = &file.content
	case file != nil:
		f.segments = append(f.segments, &segment{line: file.line, text: file.content})
	default:
		offset, _ := s.args["offset"].(int)
		_, limited := s.args["limit"]
		if numbered := numberedLines(s.call.Result); len(numbered) > 0 {
			maps.Copy(f.lines, numbered)
			if offset == 0 && !limited && !cut.MatchString(s.call.Result) {
				f.whole = contiguous(numbered)
			}
			return
		}
		f.segments = append(f.segments, &segment{line: offset + 1, text: s.call.Result, end: offset == 0 && !limited})
	}
}

func (f *fileKnowledge) learnEdit(s step, file *fileContent) {
	if file != nil && file.whole {
		f.whole = &file.content
	}
	if old, ok := s.args["oldText"].(string); ok {
		f.holds = append(f.holds, old)
		f.inserted, _ = s.args["newText"].(string)
	}
}

// learnFurther takes in an edit behind others of the same call: its text was there
// from the start, unless one of them has put it there.
func (f *fileKnowledge) learnFurther(s step) {
	old, _ := s.args["oldText"].(string)
	if old != "" && !strings.Contains(f.inserted, old) {
		f.holds = append(f.holds, old)
	}
	text, _ := s.args["newText"].(string)
	f.inserted += "\n" + text
}

func (k *knowledge) learnOurs(s step) {
	path, _ := s.args["path"].(string)
	r, ok := parseResult(s.tool, s.call.Result)
	if !ok {
		k.learnRefusal(s, path)
		return
	}
	switch s.tool {
	case agenttool.Glob, agenttool.Grep:
		for _, m := range r.Matches {
			if f := k.of(m.Path); f != nil && m.Line > 0 {
				f.lines[m.Line] = m.Excerpt
			}
		}
	case agenttool.ReadFile:
		cursor, _ := s.args["cursor"].(string)
		k.learnPage(r, cursor)
	default:
		_, replaced := s.args["revision"]
		if f := k.of(path); s.tool != agenttool.WriteFile || replaced {
			if old, ok := s.args["oldText"].(string); ok && f != nil {
				f.holds = append(f.holds, old)
			}
		} else if f != nil {
			delete(k.files, r.Path) // it was made
		}
		k.change(path, s.call)
	}
}

// learnRefusal: some refusals tell of a file that is there.
func (k *knowledge) learnRefusal(s step, path string) {
	code, _, _ := strings.Cut(s.call.Result, ": ")
	_, hasRevision := s.args["revision"]
	switch {
	case codes.Code(code) == codes.Conflict && s.tool == agenttool.WriteFile && !hasRevision,
		codes.Code(code) == codes.NoMatch:
		k.of(path)
	case codes.Code(code) == codes.AmbiguousMatch:
		if old, ok := s.args["oldText"].(string); ok {
			if f := k.of(path); f != nil {
				f.holds = append(f.holds, old, old)
			}
		}
	}
}

func (k *knowledge) learnPage(r ourResult, cursor string) {
	f := k.of(r.Path)
	if f == nil {
		return
	}
	seg := k.pages[cursor]
	if cursor == "" || seg == nil {
		seg = &segment{line: r.Line, inner: r.Continued}
		f.segments = append(f.segments, seg)
	} else {
		delete(k.pages, cursor) // read twice, it is not there twice
	}
	seg.text += r.Content
	seg.end = r.NextCursor == ""
	if seg.more = !seg.end; seg.more {
		k.pages[r.NextCursor] = seg
	}
}

var foundLine = regexp.MustCompile(`^([^\s:][^:]*):(\d+):(.*)$`)

// learnNames takes in what another agent's search gave: names, or names with lines.
func (k *knowledge) learnNames(result string) {
	for line := range strings.Lines(result) {
		line = strings.TrimRight(line, "\r\n")
		name, number, excerpt := line, 0, ""
		if m := foundLine.FindStringSubmatch(line); m != nil {
			name, excerpt = m[1], m[3]
			number, _ = strconv.Atoi(m[2])
		} else if !strings.HasPrefix(line, "/") || strings.ContainsAny(line, " :") {
			continue // a sentence, as likely as a name
		}
		p, err := virtual(name)
		if err != nil {
			continue
		}
		if f := k.of(p); f != nil && number > 0 {
			f.lines[number] = excerpt
		}
	}
}

var numberedLine = regexp.MustCompile(`^\s*(\d{1,7})(?:→|\t|\| ?)(.*)$`)

// numberedLines reads a text whose lines have numbers in front, as several agents
// show files; empty when it is none.
func numberedLines(text string) map[int]string {
	found := map[int]string{}
	for line := range strings.Lines(text) {
		if m := numberedLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				found[n] = m[2]
			}
		}
	}
	return found
}

// cut matches what agents write where they show only the beginning of a file.
var cut = regexp.MustCompile(`(?i)truncated|clipped|more lines|File has more|use offset`)

// contiguous joins lines that begin with the first and have no gap; nil when they
// do not. The last line is taken to have ended, as most files do.
func contiguous(lines map[int]string) *string {
	var b strings.Builder
	for n := 1; n <= len(lines); n++ {
		line, known := lines[n]
		if !known {
			return nil
		}
		b.WriteString(line + "\n")
	}
	text := b.String()
	return &text
}

// notShown stands for what comes behind a page that was not the last, so that the
// page is cut where it was.
const notShown = "(the rest of the file was not shown)\n"

// maxSeedLines bounds the empty lines that stand for what was not shown.
const maxSeedLines = 20_000

// seeds returns the files, and which of them are partial.
func (k *knowledge) seeds() (map[string]string, []Partial) {
	seeds := map[string]string{}
	var partial []Partial
	for _, path := range slices.SortedFunc(maps.Keys(k.files), vpath.Compare) {
		content, why := k.files[path].content()
		if err := textfile.Check(content); err != nil {
			content, why = "", fmt.Sprintf("what is known of it cannot be stored: %v", err)
		}
		seeds[path] = content
		if why != "" {
			partial = append(partial, Partial{path, why})
		}
	}
	return seeds, partial
}

// content puts a file together, and says why it is partial, "" when it is not.
func (f *fileKnowledge) content() (content, why string) {
	if f.whole != nil {
		return *f.whole, ""
	}
	for _, s := range f.segments {
		if s.line == 1 && !s.inner && s.end {
			return s.text, ""
		}
	}
	content, shown, last := f.assemble()
	for _, old := range f.holds {
		if strings.Count(content, old) < count(f.holds, old) {
			content += old + "\n"
		}
	}
	switch {
	case shown == 0 && len(f.holds) == 0:
		return content, "only its name was shown"
	case shown == 0:
		return content, "only the text that was replaced is known"
	case shown == last:
		return content, fmt.Sprintf("it was shown to line %d, and not to its end", last)
	}
	return content, fmt.Sprintf("%d of its lines were shown, the last of them is line %d", shown, last)
}

func count(list []string, text string) int {
	n := 0
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}

// assemble puts the lines that were shown in their places.
func (f *fileKnowledge) assemble() (content string, shown, last int) {
	lines := maps.Clone(f.lines)
	newline, rest := "\n", map[int]string{}
	for _, s := range f.segments {
		text := s.text
		if s.end && !strings.HasSuffix(text, "\n") {
			newline = ""
		}
		if s.more && text != "" { // behind the last of its lines, on the same or the next
			rest[s.line+strings.Count(text, "\n")] = notShown
		}
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if (i > 0 || !s.inner) && text != "" {
				lines[s.line+i] = line
			}
		}
	}
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		if n < 1 || n > maxSeedLines {
			continue
		}
		for ; last < n-1; last++ {
			b.WriteByte('\n')
		}
		b.WriteString(lines[n] + "\n")
		last = n
		shown++
	}
	content = b.String()
	if text, onNext := rest[last+1]; onNext {
		return content + text, shown, last
	}
	if text, onSame := rest[last]; onSame {
		return strings.TrimSuffix(content, "\n") + text, shown, last
	}
	if newline == "" {
		content = strings.TrimSuffix(content, "\n")
	}
	return content, shown, last
}
