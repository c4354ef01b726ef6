package sqlitefs

import (
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// fault is one broken rule of a row.
type fault struct {
	rule           Rule
	detail, repair string
}

// mended is a row as a repair makes it.
type mended struct {
	faults      []fault
	can         bool // there is something to mend
	fixed       storedRow
	newRevision bool
	keep        bool // the content stays as it is stored
	remove      bool // the row cannot be shown under any name
}

// judge finds what is wrong with a row.
func judge(r storedRow) mended {
	m := mended{fixed: r, keep: true}
	add := func(rule Rule, detail, repair string) {
		m.faults = append(m.faults, fault{rule, detail, repair})
		m.can = m.can || repair != ""
	}
	if ns, ok := isText(r.namespace); !ok || checkNamespace(ns) != nil {
		add(RuleNamespace, "the namespace is blank or no text", "")
	}
	path := show(r.path)
	if _, ok := isText(r.path); !ok || vpath.CheckFile(path) != nil {
		clean, err := vpath.CleanFile(path)
		switch {
		case err != nil:
			add(RulePath, fmt.Sprintf("the path cannot be used: %v", err), "removes the row")
			m.remove = true
		default:
			add(RulePath, "the path is not in canonical form", "names the file "+clean+", or removes the row when that is taken")
			path = clean
		}
		m.fixed.path = path
	}
	if key, ok := isText(r.key); !m.remove && (!ok || !isKeyOf(key, path)) {
		add(RuleKey, "the order key is not that of the path", "sets the key")
		m.fixed.key = keyOf(path)
	}
	if rev, ok := isText(r.rev); !ok || rev == "" {
		add(RuleRevision, "the revision is empty or no text", "gives the file a new revision")
		m.newRevision = true
	}
	judgeContent(r, &m, add)
	return m
}

func judgeContent(r storedRow, m *mended, add func(Rule, string, string)) {
	content := show(r.content)
	if r.content == nil && r.size == 0 { // only a damaged row, or a table that another program made
		add(RuleText, "the content is NULL, not text", "stores an empty text")
		m.fixed.content, m.keep, m.newRevision = "", false, true
		return
	}
	if r.content == nil || len(content) > maxContent {
		add(RuleSize, fmt.Sprintf("the content has %d bytes where at most %d are read, so split it into several files", r.size, maxContent), "")
		return
	}
	if _, ok := isText(r.content); ok {
		return
	}
	detail, repair := "the content is stored as a BLOB, not as text", "stores the same bytes as text"
	if !utf8.ValidString(content) {
		detail, repair = "the content is not valid UTF-8", "puts U+FFFD in place of what is broken"
	}
	add(RuleText, detail, repair)
	m.fixed.content, m.keep, m.newRevision = validText(content), false, true
}

// show returns a stored value as text, however it is stored.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// isText returns a stored value that is valid text.
func isText(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && utf8.ValidString(s)
}
