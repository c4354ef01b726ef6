package blackbox

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/folder"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// mask hides what varies from run to run and from machine to machine. It is not
// safe for concurrent use.
type mask struct {
	folders []maskFolder // the longest first
	rules   []maskRule
	hidden  map[string]string // what was masked before: clients repeat long texts in each request
}

type maskFolder struct{ path, name string }

type maskRule struct {
	match *regexp.Regexp
	as    string
	// may reports in less time whether a text can have anything that matches; nil
	// is always.
	may func(text string) bool
}

// hasYear looks for the four digits in a row of a year.
func hasYear(text string) bool {
	digits := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			digits = 0
		} else if digits++; digits == 4 {
			return true
		}
	}
	return false
}

func hasPort(text string) bool {
	return strings.Contains(text, "127.0.0.1:") || strings.Contains(text, "localhost:")
}

// hasSeconds looks for a number with a unit behind it.
func hasSeconds(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i] != 's' && text[i] != 'm' { // s, sec, seconds; ms, milliseconds
			continue
		}
		before := text[i-1]
		if before == ' ' && i > 1 {
			before = text[i-2]
		}
		if before >= '0' && before <= '9' {
			return true
		}
	}
	return false
}

// always are the rules for every scenario, after its own. A date is hidden before
// a duration could find a number in it.
var always = []maskRule{
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>", func(text string) bool { return strings.Count(text, "-") >= 4 }},
	{regexp.MustCompile(`\b[0-9]{4}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:\.[0-9]+)?)?(?:Z|[+-][0-2][0-9]:?[0-5][0-9])?)?\b`), "<date>", hasYear},
	{regexp.MustCompile(`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )(?:[0-3]?[0-9] )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: [0-3]?[0-9])?,? [0-9]{4}\b`), "<date>", hasYear},
	{regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)? ?(?:ms|milliseconds?|s|sec|seconds?)\b`), "<duration>", hasSeconds},
	{regexp.MustCompile(`\b(?:127\.0\.0\.1|localhost):[0-9]{2,5}\b`), "<address>", hasPort},
}

// newMask hides folders by name, and what the scenario says.
func newMask(folders map[string]string, specs []maskSpec) *mask {
	m := &mask{hidden: map[string]string{}}
	for name, path := range folders {
		m.folders = append(m.folders, maskFolder{path, name})
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			m.folders = append(m.folders, maskFolder{real, name})
		}
	}
	m.folders = slices.DeleteFunc(m.folders, func(f maskFolder) bool { return len(f.path) < 2 }) // "/" would hide every path
	slices.SortFunc(m.folders, func(a, b maskFolder) int {                                       // by name too, which decides for equal paths
		return cmp.Or(len(b.path)-len(a.path), strings.Compare(a.name, b.name))
	})
	for _, s := range specs {
		m.rules = append(m.rules, maskRule{match: regexp.MustCompile(s.Match), as: s.As}) // Validate has compiled it before
	}
	m.rules = append(m.rules, always...)
	return m
}

// hide masks a text.
func (m *mask) hide(text string) string {
	if masked, ok := m.hidden[text]; ok {
		return masked
	}
	masked := text
	for _, f := range m.folders {
		masked = folder.Replace(masked, f.path, func(string) string { return "<" + f.name + ">" })
	}
	for _, r := range m.rules {
		if r.may == nil || r.may(masked) {
			masked = r.match.ReplaceAllString(masked, r.as)
		}
	}
	m.hidden[text] = masked
	return masked
}

// around masks a message but not the result in it, if that is in it whole.
func (m *mask) around(text string, result *wire.Result) string {
	if result == nil || result.Text == "" {
		return m.hide(text)
	}
	before, after, whole := strings.Cut(text, result.Text)
	if !whole {
		return m.hide(text)
	}
	return m.hide(before) + result.Text + m.hide(after)
}
