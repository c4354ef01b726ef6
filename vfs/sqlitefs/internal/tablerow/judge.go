package tablerow

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Rule names what a fault breaks.
type Rule string

// The rules of a row.
const (
	RuleNamespace Rule = "namespace" // text, not blank
	RulePath      Rule = "path"      // text, a canonical file path
	RuleKey       Rule = "path-key"  // the key of the path
	RuleRevision  Rule = "revision"  // text, not empty
	RuleText      Rule = "text"      // content is text and valid UTF-8
	RuleSize      Rule = "size"      // content of at most MaxContent bytes
)

// Row is a row as it is stored, whatever its types.
type Row struct {
	ID                             int64 // 0 where rows have none
	Namespace, Path, Key, Revision any
	Content                        any // nil when it is too large to load
	Size                           int64
}

// Fault is one broken rule of a row.
type Fault struct {
	Rule           Rule
	Detail, Repair string // what is wrong, and what a repair does about it, "" for nothing
}

// Verdict is what is wrong with a row, and the row as a repair makes it.
type Verdict struct {
	Faults      []Fault
	Can         bool // there is something to mend
	Fixed       Row
	NewRevision bool
	Keep        bool // the content stays as it is stored
	Remove      bool // the row cannot be shown under any name
}

// Judge finds what is wrong with a row.
func Judge(r Row) Verdict {
	m := Verdict{Fixed: r, Keep: true}
	add := func(rule Rule, detail, repair string) {
		m.Faults = append(m.Faults, Fault{rule, detail, repair})
		m.Can = m.Can || repair != ""
	}
	if ns, ok := IsText(r.Namespace); !ok || CheckNamespace(ns) != nil {
		add(RuleNamespace, "the namespace is blank or no text", "")
	}
	path := Text(r.Path)
	if _, ok := IsText(r.Path); !ok || vpath.CheckFile(path) != nil {
		clean, err := vpath.CleanFile(path)
		switch {
		case err != nil:
			add(RulePath, fmt.Sprintf("the path cannot be used: %v", err), "removes the row")
			m.Remove = true
		default:
			add(RulePath, "the path is not in canonical form", "names the file "+clean+", or removes the row when that is taken")
			path = clean
		}
		m.Fixed.Path = path
	}
	if key, ok := IsText(r.Key); !m.Remove && (!ok || !IsKeyOf(key, path)) {
		add(RuleKey, "the order key is not that of the path", "sets the key")
		m.Fixed.Key = KeyOf(path)
	}
	if rev, ok := IsText(r.Revision); !ok || rev == "" {
		add(RuleRevision, "the revision is empty or no text", "gives the file a new revision")
		m.NewRevision = true
	}
	judgeContent(r, &m, add)
	return m
}

func judgeContent(r Row, m *Verdict, add func(Rule, string, string)) {
	content := Text(r.Content)
	if r.Content == nil && r.Size == 0 { // only a damaged row, or a table that another program made
		add(RuleText, "the content is NULL, not text", "stores an empty text")
		m.Fixed.Content, m.Keep, m.NewRevision = "", false, true
		return
	}
	if r.Content == nil || len(content) > MaxContent {
		add(RuleSize, fmt.Sprintf("the content has %d bytes where at most %d are read, so split it into several files", r.Size, MaxContent), "")
		return
	}
	if _, ok := IsText(r.Content); ok {
		return
	}
	detail, repair := "the content is stored as a BLOB, not as text", "stores the same bytes as text"
	if !utf8.ValidString(content) {
		detail, repair = "the content is not valid UTF-8", "puts U+FFFD in place of what is broken"
	}
	add(RuleText, detail, repair)
	m.Fixed.Content, m.Keep, m.NewRevision = ValidText(content), false, true
}

// Text returns a stored value as text, however it is stored.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// IsText returns a stored value that is valid text.
func IsText(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && utf8.ValidString(s)
}

// ValidText replaces each broken byte by U+FFFD.
func ValidText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// CheckNamespace refuses what cannot be the name of a namespace, with an error that
// matches fs.ErrInvalid.
func CheckNamespace(name string) error {
	if strings.TrimSpace(name) == "" {
		return fmt.Errorf("%w: a namespace must not be blank, give it a name", fs.ErrInvalid)
	}
	if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%w: a namespace must be valid UTF-8 without NUL", fs.ErrInvalid)
	}
	return nil
}
