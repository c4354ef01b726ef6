package memory

import (
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// MaxRecent is how many exchanges are kept verbatim.
const MaxRecent = 3

// State is the memory of one conversation. The zero State is an empty memory.
type State struct {
	Summary string     `json:"summary"`
	Recent  []Exchange `json:"recent"` // oldest first
}

// Exchange is one request and its answer.
type Exchange struct {
	Ask    string    `json:"ask"`
	Answer string    `json:"answer"`
	At     time.Time `json:"at,omitzero"`
	Steps  []string  `json:"steps,omitempty"` // a line for each tool that ran
}

// Clone returns a copy that shares nothing with s.
func (s State) Clone() State {
	s.Recent = slices.Clone(s.Recent)
	if s.Recent == nil {
		s.Recent = []Exchange{}
	}
	for i := range s.Recent {
		s.Recent[i].Steps = slices.Clone(s.Recent[i].Steps)
	}
	return s
}

// With returns the state after one more exchange, and the exchanges that fell
// off its end, oldest first. The summary is as it was.
func (s State) With(e Exchange) (next State, dropped []Exchange) {
	next = s.Clone()
	next.Recent = append(next.Recent, e)
	excess := max(0, len(next.Recent)-MaxRecent)
	dropped = slices.Clone(next.Recent[:excess])
	next.Recent = slices.Clone(next.Recent[excess:])
	return next, dropped
}

// Limited returns the state with the limits applied: the last MaxRecent
// exchanges, and a summary of at most summaryTokens estimated tokens, which is
// cut after whole characters and ends in "…" then, or is "" where not even that
// fits.
func (s State) Limited(summaryTokens int) State {
	s = s.Clone()
	s.Recent = s.Recent[max(0, len(s.Recent)-MaxRecent):]
	s.Summary = cut(s.Summary, summaryTokens)
	return s
}

const ellipsis = "…"

func cut(text string, tokens int) string {
	if agenttool.EstimateTokens(text) <= tokens {
		return text
	}
	// The estimate grows with the text, so the cut can be found by halving.
	first := sort.Search(len(text), func(n int) bool {
		return agenttool.EstimateTokens(text[:start(text, n)]+ellipsis) > tokens
	})
	if first == 0 {
		return ""
	}
	return text[:start(text, first-1)] + ellipsis
}

// start returns the last start of a character of text at or before n.
func start(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
