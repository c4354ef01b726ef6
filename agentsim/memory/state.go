package memory

import (
	"slices"
	"strings"
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
	over := max(0, len(next.Recent)-MaxRecent)
	dropped = slices.Clone(next.Recent[:over])
	next.Recent = slices.Clone(next.Recent[over:])
	return next, dropped
}

// Limited returns the state with the limits applied: the last MaxRecent
// exchanges, and a summary of at most summaryTokens estimated tokens, which ends
// in "…" where it was cut.
func (s State) Limited(summaryTokens int) State {
	s = s.Clone()
	s.Recent = s.Recent[max(0, len(s.Recent)-MaxRecent):]
	s.Summary = cut(strings.TrimSpace(s.Summary), summaryTokens)
	return s
}

const ellipsis = "…"

func cut(text string, tokens int) string {
	if agenttool.EstimateTokens(text) <= tokens {
		return text
	}
	for text != "" && agenttool.EstimateTokens(text+ellipsis) > tokens {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	if agenttool.EstimateTokens(text+ellipsis) > tokens {
		return ""
	}
	return strings.TrimRight(text, " \n") + ellipsis
}
