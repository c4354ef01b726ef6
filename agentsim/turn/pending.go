package turn

import "strings"

// The slots of a summary. A scribe is asked for the first five; pendingBefore is
// added by keepPending.
const (
	slotPending   = "Pending:"
	pendingBefore = "Pending before:"
)

func slots() []string {
	return []string{"Goal:", "Done:", "Decisions:", slotPending, "Next:", pendingBefore}
}

// keepPending returns a rewritten summary that does not forget open work. A scribe that leaves out its slot for pending work has not
// said that it is finished, so what was open before and is not mentioned stays,
// in a slot that does not claim to know. With a slot for it, or nothing open, the
// summary is as the scribe wrote it and kept is "".
func keepPending(before, after string) (summary, kept string) {
	if _, ok := slot(after, slotPending); ok {
		return after, ""
	}
	var open []string
	for _, name := range []string{slotPending, pendingBefore} {
		text, _ := slot(before, name)
		for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
			item = strings.Trim(item, " \t\r.-*•")
			if !nothing(item) && !strings.Contains(strings.ToLower(after), strings.ToLower(item)) {
				open = append(open, item)
			}
		}
	}
	if len(open) == 0 {
		return after, ""
	}
	kept = strings.Join(open, "; ")
	return after + "\n" + pendingBefore + " " + kept, kept
}

// notes returns a summary in at most limit tokens. Of one that must be cut, the
// open work is cut last: its slots move to the end, after what is left of the
// rest. whole is false when not even they fit.
func (c counter) notes(summary string, limit int) (fitted string, whole bool) {
	if c.count(summary) <= limit {
		return summary, true
	}
	rest, open := summary, ""
	for _, name := range []string{slotPending, pendingBefore} {
		var text string
		var ok bool
		if rest, text, ok = cutSlot(rest, name); ok && !nothing(text) {
			open += "\n" + name + " " + text
		}
	}
	if open == "" {
		return c.clip(summary, "…", limit), true
	}
	rest = strings.TrimSpace(rest)
	for room := limit - c.count(open); room > 0; { // a counter need not add up
		fitted := strings.TrimPrefix(c.clip(rest, "…", room)+open, "\n")
		excess := c.count(fitted) - limit
		if excess <= 0 {
			return fitted, true
		}
		room -= excess
	}
	open = strings.TrimPrefix(open, "\n")
	fitted = c.clip(open, "…", limit)
	return fitted, fitted == open
}

func nothing(item string) bool {
	switch strings.ToLower(item) {
	case "", "none", "nothing", "n/a", "no", "(none)":
		return true
	}
	return false
}

// slot returns what stands in one slot of a summary, and whether it has it.
func slot(summary, name string) (string, bool) {
	_, text, ok := cutSlot(summary, name)
	return text, ok
}

// cutSlot takes a slot out of a summary.
func cutSlot(summary, name string) (rest, text string, ok bool) {
	before, after, ok := cutFold(summary, name)
	if !ok {
		return summary, "", false
	}
	text = after
	for _, next := range slots() {
		text, _, _ = cutFold(text, next)
	}
	return before + after[len(text):], strings.TrimSpace(text), true
}

// cutFold is strings.Cut at the first name that begins a word, in upper or lower
// case.
func cutFold(s, name string) (before, after string, found bool) {
	for i := 0; i+len(name) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(name)], name) && (i == 0 || strings.ContainsRune(" \t\n*#-.;", rune(s[i-1]))) {
			return s[:i], s[i+len(name):], true
		}
	}
	return s, "", false
}
