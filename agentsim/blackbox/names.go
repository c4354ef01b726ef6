package blackbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// names numbers the revisions and cursors of one conversation, in the order in
// which its requests show them: not in the order of the calls, since those of one
// reply run at once. It is safe for concurrent use.
type names struct {
	known func(value string) bool // nil takes each that looks like one

	mu     sync.Mutex          // a report may be made while requests come
	kinds  map[string]string   // value to "rev" or "cursor"
	values map[string][]string // by kind, in order
	labels *strings.Replacer   // of the values; nil when it must be made anew
}

var _ wire.Names = (*names)(nil)

func newNames(known func(string) bool) *names {
	return &names{known: known, kinds: map[string]string{}, values: map[string][]string{}}
}

// shownValue finds revisions and cursors in a result, in whatever depth of JSON
// the client has put it.
var shownValue = regexp.MustCompile(`\\*"(revision|nextCursor)\\*":\s*\\*"([A-Za-z0-9_=+/.-]+)\\*"`)

// See implements wire.Names.
func (n *names) See(m *wire.Message) {
	if m.Role != wire.ToolRole {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, found := range shownValue.FindAllStringSubmatch(m.Text, -1) {
		kind, value := "rev", found[2]
		if found[1] == "nextCursor" {
			kind = "cursor"
		}
		if n.kinds[value] != "" || n.known != nil && !n.known(value) {
			continue
		}
		n.kinds[value] = kind
		n.values[kind] = append(n.values[kind], value)
		n.labels = nil
	}
}

// label is the name of a value.
func (n *names) label(kind string, i int) string { return fmt.Sprintf("<%s:%d>", kind, i+1) }

var wholeLabel = regexp.MustCompile(`^<(rev|cursor):([0-9]+)>$`)

// Resolve implements wire.Names: whole values of revision and cursor only.
func (n *names) Resolve(input json.RawMessage) (json.RawMessage, error) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, fmt.Errorf("the input is no JSON object: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	changed := false
	for _, key := range []string{"revision", "cursor"} {
		var text string
		if json.Unmarshal(args[key], &text) != nil {
			continue
		}
		label := wholeLabel.FindStringSubmatch(text)
		if label == nil {
			continue
		}
		seen := n.values[label[1]]
		i, err := strconv.Atoi(label[2])
		if err != nil || i < 1 || i > len(seen) {
			return nil, fmt.Errorf("%s has not been shown to the model yet: %d of this kind have in this conversation", text, len(seen))
		}
		quoted, err := json.Marshal(seen[i-1])
		if err != nil {
			return nil, err
		}
		args[key], changed = quoted, true
	}
	if !changed {
		return input, nil
	}
	return json.Marshal(args)
}

// hide puts the labels in place of the values.
func (n *names) hide(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.labels == nil {
		type pair struct{ value, label string }
		var all []pair
		for kind, values := range n.values {
			for i, v := range values {
				all = append(all, pair{v, n.label(kind, i)})
			}
		}
		slices.SortFunc(all, func(a, b pair) int { // one may begin with another
			return cmp.Or(len(b.value)-len(a.value), strings.Compare(a.value, b.value))
		})
		var pairs []string
		for _, p := range all {
			pairs = append(pairs, p.value, p.label)
		}
		n.labels = strings.NewReplacer(pairs...)
	}
	return n.labels.Replace(text)
}

// hideWhole is the label of a value, or the value if it has none.
func (n *names) hideWhole(value string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for kind, values := range n.values {
		for i, v := range values {
			if v == value {
				return n.label(kind, i)
			}
		}
	}
	return value
}
