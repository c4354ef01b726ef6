package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Result is what a tool returned for a call.
type Result struct {
	Tool   string // as in Options.Tools
	Input  json.RawMessage
	Text   string // what the model is meant to see
	Tokens int    // of Text
	Code   string // of the error that it tells of; "" for none
}

// Fate is how a result reached the model.
type Fate string

// The fates.
const (
	Whole   Fate = "whole"   // byte for byte, once, though the client may have put something around it
	Changed Fate = "changed" // in another form, such as JSON in a string, or in part
	Twice   Fate = "twice"   // more than once in one message
	// Uncalled is a message for which no tool was called: the client answered by
	// itself, or the call was refused before it reached the tool.
	Uncalled Fate = "uncalled"
)

// Shown is one result as a request shows it.
type Shown struct {
	Exchange int // within the conversation, from 0
	Message  int // within the request, from 0
	Call     Call
	Result   *Result // nil when Fate is Uncalled
	Fate     Fate
	Tokens   int // of the message
}

// Trace finds in the requests of a conversation what became of the results that
// its tools returned. Each result belongs to one message at most; used is shared
// between the conversations of one report. Messages that answer calls of other
// tools are passed over.
func (c *Conversation) Trace(results []Result, used map[int]bool) []Shown {
	var found []Shown
	for i := range c.Exchanges {
		x := &c.Exchanges[i]
		calls := map[string]*Call{}
		for j := range x.Request.Messages {
			m := &x.Request.Messages[j]
			for k := range m.Calls {
				calls[m.Calls[k].ID] = &m.Calls[k]
			}
			call := calls[m.CallID]
			if j < x.New || m.Role != ToolRole || call == nil || !x.Request.Owns(call) {
				continue
			}
			shown := Shown{Exchange: i, Message: j, Call: *call, Tokens: x.Tokens.Messages[j], Fate: Uncalled}
			if at := pick(results, used, x.Request.OwnName(call), call.Input, m.Text); at >= 0 {
				used[at] = true
				shown.Result = &results[at]
				shown.Fate = FateOf(shown.Result.Text, m.Text)
			}
			found = append(found, shown)
		}
	}
	return found
}

// pick chooses the result of a call: same tool and input, rather one whose text is
// in the message, and the first of equals.
func pick(results []Result, used map[int]bool, tool string, input json.RawMessage, shown string) int {
	best, rank := -1, 0
	want := withoutNulls(input)
	for i, r := range results {
		if used[i] || r.Tool != tool {
			continue
		}
		n := 0
		if withoutNulls(r.Input) == want {
			n += 2
		}
		if strings.Contains(shown, r.Text) {
			n++
		}
		if n > rank && (n >= 2 || r.Text != "") {
			best, rank = i, n
		}
	}
	return best
}

// withoutNulls is an input as canonical JSON, without the nulls that some clients
// send for arguments that are absent.
func withoutNulls(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(object(input), &args) != nil {
		return canonical(input)
	}
	maps.DeleteFunc(args, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	out, err := marshal(args)
	if err != nil {
		return canonical(input)
	}
	return canonical(out)
}

// FateOf says how a result reached the model in a message that shows this text.
func FateOf(result, shown string) Fate {
	probe := longestPlain(result)
	if n := strings.Count(result, probe); probe != "" && strings.Count(shown, probe) >= 2*n {
		return Twice
	}
	if strings.Contains(shown, result) {
		return Whole
	}
	return Changed
}

// longestPlain is the longest stretch of a text that every encoding as JSON leaves
// as it is, so that it can be counted in whatever a client makes of the text.
func longestPlain(text string) string {
	runs := strings.FieldsFunc(text, func(r rune) bool {
		return r < ' ' || r > '~' || strings.ContainsRune("\"\\<>&'/+=`", r)
	})
	if len(runs) == 0 {
		return ""
	}
	return slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
}
