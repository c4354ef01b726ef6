package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Names gives revisions and cursors the numbers under which scripts and goldens
// know them, in order of their first appearance in structured results. A number
// stays bound to its value.
type Names struct {
	revisions, cursors series
	latest             map[string]string // revisions that were asked for by path, as they were written
	repeats            []scenario.Repeat
}

// Latest returns the revision that a file has now.
type Latest func(path string) (vfs.Revision, error)

// series numbers the values of one kind.
type series struct {
	kind    string // rev or cursor
	values  []string
	numbers map[string]int
}

// NewNames returns names that have seen nothing. Arguments are shown with these
// repeated texts as they were written.
func NewNames(repeats []scenario.Repeat) *Names {
	return &Names{
		series{kind: "rev", numbers: map[string]int{}}, series{kind: "cursor", numbers: map[string]int{}},
		map[string]string{}, repeats,
	}
}

func (s *series) see(value string) {
	if value == "" || s.numbers[value] != 0 {
		return
	}
	s.values = append(s.values, value)
	s.numbers[value] = len(s.values)
}

// label returns the name of a value that was seen.
func (s *series) label(value string) (string, bool) {
	n, ok := s.numbers[value]
	return fmt.Sprintf("<%s:%d>", s.kind, n), ok
}

// value returns what a whole value such as "<rev:2>" stands for. ok is false for
// a text that is none; the error says that the number has not been seen.
func (s *series) value(text string) (value string, ok bool, err error) {
	digits, prefixed := strings.CutPrefix(text, "<"+s.kind+":")
	digits, closed := strings.CutSuffix(digits, ">")
	if !prefixed || !closed || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > len(s.values) {
		return "", false, fmt.Errorf("%s has not been seen yet: %d of this kind have, numbered from 1 as they first appear in results", text, len(s.values))
	}
	return s.values[n-1], true, nil
}

// See numbers what a result holds.
func (n *Names) See(out agenttool.Output) {
	if out == nil {
		return
	}
	for _, f := range out.Files() {
		n.revisions.see(string(f.Revision))
	}
	n.cursors.see(out.Next())
}

// Resolve puts the values into scripted arguments: whole values of revision and
// cursor only. A number that has not been seen is an error, and so is the path of
// a file that has no revision.
func (n *Names) Resolve(input json.RawMessage, latest Latest) (json.RawMessage, error) {
	var failed error
	out := rewriteValues(string(input), isArgument, func(text string) (string, bool) {
		for _, s := range []*series{&n.revisions, &n.cursors} {
			value, ok, err := s.value(text)
			if err != nil {
				failed = err
			}
			if ok {
				return value, true
			}
		}
		path, named := strings.CutPrefix(text, "<rev:/")
		path, closed := strings.CutSuffix(path, ">")
		if !named || !closed {
			return "", false
		}
		revision, err := latest("/" + path)
		if err != nil {
			failed = fmt.Errorf("%s: %w", text, err)
			return "", false
		}
		if _, numbered := n.revisions.label(string(revision)); !numbered {
			n.latest[string(revision)] = text
		}
		return string(revision), true
	})
	return json.RawMessage(out), failed
}

// Input puts the labels back into arguments, for people.
func (n *Names) Input(input json.RawMessage) string {
	text := rewriteValues(string(input), isArgument, func(value string) (string, bool) {
		if l, ok := n.label(value); ok {
			return l, true
		}
		l, ok := n.latest[value]
		return l, ok
	})
	for _, r := range n.repeats {
		text = strings.ReplaceAll(text, r.Text, r.Written)
	}
	return text
}

// Text puts labels into what a tool showed: into the JSON of its first line,
// never into the contents below it or in excerpts.
func (n *Names) Text(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text
	}
	head, content, found := strings.Cut(text, "\n")
	head = rewriteValues(head, isResult, n.label)
	if !found {
		return head
	}
	return head + "\n" + content
}

func (n *Names) label(value string) (string, bool) {
	if l, ok := n.revisions.label(value); ok {
		return l, true
	}
	return n.cursors.label(value)
}

func isArgument(key string) bool { return key == "revision" || key == "cursor" }
func isResult(key string) bool   { return key == "revision" || key == "nextCursor" }

// rewriteValues replaces string values of some keys in JSON and leaves every
// other byte as it is. A value that a clipped text breaks off is cut to "<",
// because how much of it is left says nothing.
func rewriteValues(text string, wanted func(key string) bool, replace func(value string) (string, bool)) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '"' {
			b.WriteByte(text[i])
			i++
			continue
		}
		key, end := stringAt(text, i)
		b.WriteString(text[i:end])
		i = end
		colon := skipSpace(text, i)
		if !wanted(key) || colon >= len(text) || text[colon] != ':' {
			continue
		}
		start := skipSpace(text, colon+1)
		b.WriteString(text[i:start])
		i = start
		if i >= len(text) || text[i] != '"' {
			continue
		}
		value, end := stringAt(text, i)
		if with, ok := replace(value); ok {
			b.WriteString(`"` + with + `"`)
		} else if end == len(text) && (end == i+1 || text[end-1] != '"') {
			b.WriteString(`"<`)
		} else {
			b.WriteString(text[i:end])
		}
		i = end
	}
	return b.String()
}

func skipSpace(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i
}

// stringAt returns the JSON string that starts at i, decoded, and where it ends.
func stringAt(text string, i int) (value string, end int) {
	for end = i + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case '"':
			end++
			if json.Unmarshal([]byte(text[i:end]), &value) != nil {
				value = ""
			}
			return value, end
		}
	}
	return "", len(text)
}
