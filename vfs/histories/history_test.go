package histories_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/goliathfs/goliathfs/vfs"
)

// kind is what a call does.
type kind string

const (
	read   kind = "read"
	stat   kind = "stat" // also a row of a list
	write  kind = "write"
	remove kind = "remove"
	look   kind = "look" // a read that tells the content alone, as through a mount
	put    kind = "put"  // a write that names no revision, as through a mount
)

// outcome is how a call ended.
type outcome string

const (
	done     outcome = "done"
	missing  outcome = "not-found"
	conflict outcome = "conflict"
	unknown  outcome = "unknown" // it may have happened, or still happen, or not
)

// op is one call of a client and what came of it.
type op struct {
	client   int
	kind     kind
	path     string
	expected vfs.Revision // of write and remove: what it replaces
	content  string       // written, unlike that of every other write; or read
	revision vfs.Revision // written or read
	outcome  outcome
	call     int64 // nanoseconds since the history began
	end      int64
	err      error // that made the outcome unknown
}

func (o op) String() string {
	return fmt.Sprintf("client %d %s %s expecting %q: %s, revision %.24q, content %.30q, from %d to %d µs (%v)",
		o.client, o.kind, o.path, o.expected, o.outcome, o.revision, o.content, o.call/1000, o.end/1000, o.err)
}

// history is what all clients did. It is safe for concurrent use.
type history struct {
	begun time.Time

	mu  sync.Mutex
	ops []op // guarded by mu
}

func newHistory() *history { return &history{begun: time.Now()} }

func (h *history) now() int64 { return int64(time.Since(h.begun)) }

// begin starts a call.
func (h *history) begin(client int, k kind, path string) op {
	return op{client: client, kind: k, path: path, call: h.now()}
}

// end notes a call with its outcome, and returns that.
func (h *history) end(o op, err error) outcome {
	o.end = h.now()
	switch {
	case err == nil:
		o.outcome = done
	case errors.Is(err, vfs.ErrNotFound):
		o.outcome = missing
	case errors.Is(err, vfs.ErrConflict):
		o.outcome = conflict
	default:
		o.outcome, o.err, o.end = unknown, err, math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, o)
	return o.outcome
}

// settled returns the calls with the revisions that writers were not told filled
// in from what others read. Where nobody read the text, the revision stays open.
func (h *history) settled() []op {
	h.mu.Lock()
	defer h.mu.Unlock()
	ops := slices.Clone(h.ops)
	of := map[string]vfs.Revision{}
	for _, o := range ops {
		if o.outcome == done && o.revision != "" && o.content != "" {
			of[o.content] = o.revision
		}
	}
	for i, o := range ops {
		if (o.kind == write || o.kind == put) && o.revision == "" {
			ops[i].revision = of[o.content]
			if ops[i].revision == "" {
				ops[i].revision = open + vfs.Revision(o.content)
			}
		}
	}
	return ops
}

// open begins the name of a revision that its writer was not told and nobody read.
// One who only looked at the revision may have seen it all the same.
const open = "open: "

func isOpen(r vfs.Revision) bool { return strings.HasPrefix(string(r), open) }

// state is a file; the zero state is none.
type state struct {
	revision vfs.Revision
	content  string
}

// specification is what one file does, call after call.
type specification struct {
	known map[vfs.Revision]bool // whose text is known
}

// specified is the specification for a history.
func specified(ops []op) specification {
	s := specification{map[vfs.Revision]bool{"": true}}
	for _, o := range ops {
		if o.content != "" && o.revision != "" {
			s.known[o.revision] = true
		}
	}
	return s
}

// is reports whether a file at a state can be at a revision that a client names.
func (sp specification) is(s state, r vfs.Revision) bool {
	return s.revision == r || isOpen(s.revision) && !sp.known[r]
}

// step says whether a call can end as it did, and what it leaves behind.
func (sp specification) step(s state, o op) (bool, state) {
	after := state{o.revision, o.content}
	if o.kind == remove {
		after = state{}
	}
	switch o.outcome {
	case missing:
		return s == state{}, s
	case conflict:
		return s.revision != o.expected && (o.kind == write || s != state{}), s
	case unknown:
		if o.kind == put || (o.kind == write || o.kind == remove) && sp.is(s, o.expected) {
			return true, after
		}
		return true, s
	}
	switch o.kind {
	case read:
		return s == after, s
	case stat:
		return sp.is(s, o.revision), state{o.revision, s.content}
	case look:
		return s.content == o.content, s
	case put:
		return true, after
	}
	return sp.is(s, o.expected), after
}

// model is the specification for the checker.
func (sp specification) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, in, out any) (bool, any) { return sp.step(s.(state), in.(op)) },
	}
}

// patience bounds the search for an order, which can take for ever.
const patience = time.Minute

// linearizable returns an error for each path whose history has no right order. What is
// seen through a mount and what is seen without it are judged apart: a write is in the
// store a moment before it returns, and in the mount when it does.
func linearizable(ops []op) error {
	if !slices.ContainsFunc(ops, func(o op) bool { return o.kind == look }) {
		return ordered(ops)
	}
	without := func(kinds ...kind) []op {
		return slices.DeleteFunc(slices.Clone(ops), func(o op) bool { return slices.Contains(kinds, o.kind) })
	}
	told := func(o op) bool { return o.outcome == done || o.outcome == unknown || o.kind == look || o.kind == put }
	mounted := slices.DeleteFunc(without(read, stat), func(o op) bool { return !told(o) }) // for a refusal tells what the store has
	return errors.Join(ordered(without(look)), ordered(mounted))
}

// ordered returns an error for each path of which the calls have no right order.
func ordered(ops []op) error {
	paths := map[string][]porcupine.Operation{}
	for _, o := range ops {
		if o.outcome == unknown && (o.kind == read || o.kind == stat || o.kind == look) {
			continue // says nothing
		}
		paths[o.path] = append(paths[o.path], porcupine.Operation{ClientId: o.client, Input: o, Call: o.call, Return: o.end})
	}
	model := specified(ops).model()
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		switch porcupine.CheckOperationsTimeout(model, paths[path], patience) {
		case porcupine.Illegal:
			errs = append(errs, fmt.Errorf("%s: no order of these calls explains their answers:%s", path, listed(ops, path)))
		case porcupine.Unknown:
			errs = append(errs, fmt.Errorf("%s: no order was found in %v, nor that there is none: make the history shorter", path, patience))
		}
	}
	return errors.Join(errs...)
}

// listed shows the calls on a path that a person would look at.
func listed(ops []op, path string) string {
	const most = 60
	text, n := "", 0
	for _, o := range slices.SortedFunc(slices.Values(ops), func(a, b op) int { return cmp.Compare(a.call, b.call) }) {
		if o.path == path && n < most {
			text += "\n\t" + o.String()
			n++
		}
	}
	return text
}

// TestJudge checks the specification on histories written by hand.
func TestJudge(t *testing.T) {
	at := func(o op, call, end int64) op {
		o.path, o.call, o.end = "/a", call, end
		if o.outcome == "" {
			o.outcome = done
		}
		return o
	}
	created := at(op{kind: write, content: "one", revision: "r1"}, 1, 2)
	replaced := at(op{kind: write, content: "two", revision: "r2", expected: "r1"}, 3, 6)
	for _, tt := range []struct {
		name string
		ops  []op
		want bool
	}{
		{"create and read", []op{created, at(op{kind: read, content: "one", revision: "r1"}, 3, 4)}, true},
		{"a read before the create returned", []op{created, at(op{kind: read, content: "one", revision: "r1"}, 1, 2)}, true},
		{"a read that finds nothing after it", []op{created, at(op{kind: read, outcome: missing}, 3, 4)}, false},
		{"old text after the new was written", []op{created, replaced, at(op{kind: read, content: "one", revision: "r1"}, 7, 8)}, false},
		{"old text while the new is written", []op{created, replaced, at(op{kind: read, content: "one", revision: "r1"}, 4, 5)}, true},
		{"old text after someone saw the new", []op{created, replaced, at(op{kind: stat, revision: "r2"}, 3, 4), at(op{kind: read, content: "one", revision: "r1"}, 5, 6)}, false},
		{"content of one revision under another", []op{created, replaced, at(op{kind: read, content: "one", revision: "r2"}, 7, 8)}, false},
		{"two replace one revision", []op{created, replaced, at(op{kind: write, content: "three", revision: "r3", expected: "r1"}, 3, 6)}, false},
		{"the second of two has a conflict", []op{created, replaced, at(op{kind: write, content: "three", expected: "r1", outcome: conflict}, 3, 6)}, true},
		{"a conflict that nobody caused", []op{created, at(op{kind: write, content: "two", expected: "r1", outcome: conflict}, 3, 4)}, false},
		{"an unknown write that is seen later", []op{created, at(op{kind: write, content: "two", revision: "r2", expected: "r1", outcome: unknown}, 3, math.MaxInt64), at(op{kind: read, content: "two", revision: "r2"}, 9, 10)}, true},
		{"an unknown write that is not", []op{created, at(op{kind: write, content: "two", revision: "r2", expected: "r1", outcome: unknown}, 3, math.MaxInt64), at(op{kind: read, content: "one", revision: "r1"}, 9, 10)}, true},
		{"an unknown write that is seen and then not", []op{created, at(op{kind: write, content: "two", revision: "r2", expected: "r1", outcome: unknown}, 3, math.MaxInt64), at(op{kind: stat, revision: "r2"}, 5, 6), at(op{kind: stat, revision: "r1"}, 9, 10)}, false},
		{"removed and gone", []op{created, at(op{kind: remove, expected: "r1"}, 3, 4), at(op{kind: read, outcome: missing}, 5, 6)}, true},
		{"removed and there", []op{created, at(op{kind: remove, expected: "r1"}, 3, 4), at(op{kind: stat, revision: "r1"}, 5, 6)}, false},
		{"removed twice", []op{created, at(op{kind: remove, expected: "r1"}, 3, 4), at(op{kind: remove, expected: "r1"}, 3, 4)}, false},
		{"an unknown write of which only the revision is seen", []op{created, at(op{kind: write, content: "two", revision: open + "two", expected: "r1", outcome: unknown}, 3, math.MaxInt64), at(op{kind: stat, revision: "r9"}, 9, 10), at(op{kind: write, content: "three", revision: "r3", expected: "r9"}, 11, 12)}, true},
		{"a revision that nobody wrote", []op{created, at(op{kind: stat, revision: "r9"}, 9, 10)}, false},
		{"a blind write and a look", []op{created, at(op{kind: put, content: "two", revision: "r2"}, 3, 4), at(op{kind: look, content: "two"}, 5, 6)}, true},
		{"a look that finds nothing while a write of which another was refused has not returned", []op{at(created, 1, 6), at(op{kind: write, outcome: conflict, content: "two"}, 2, 3), at(op{kind: look, outcome: missing}, 4, 5)}, true},
		{"a look at what was overwritten", []op{created, at(op{kind: put, content: "two", revision: "r2"}, 3, 4), at(op{kind: look, content: "one"}, 5, 6)}, false},
	} {
		if err := linearizable(tt.ops); (err == nil) != tt.want {
			t.Errorf("%s: linearizable is %v: %v", tt.name, err == nil, err)
		}
	}
}
