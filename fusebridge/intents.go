//go:build linux

package fusebridge

import (
	"slices"
	"time"
)

// intents remembers, by thread, who was sent to look a name up because he wants to
// write. A thread wants one file at a time; but all those of other process namespaces
// have the number 0, so theirs are told apart by the file. The tree's lock guards it.
type intents map[uint32][]*intent

const elsewhere = 0

// intent is what a thread wants to write: the file that it had, wherever that is
// now, or what has its place by now. After a revision that was superseded, which has
// no place, the next file is meant.
type intent struct {
	since    time.Time
	node     *version
	path     string
	lookedUp bool // it came back, for whichever name
}

// intentLife is how long an intent is kept: the kernel comes back at once or not
// at all.
const intentLife = 10 * time.Second

// add remembers that a thread which has v is to look it up.
func (s intents) add(thread uint32, v *version) {
	now := time.Now()
	for other, wanted := range s {
		s[other] = slices.DeleteFunc(wanted, func(in *intent) bool {
			return now.Sub(in.since) > intentLife || other == thread && (other != elsewhere || in.node == v)
		})
		if len(s[other]) == 0 {
			delete(s, other)
		}
	}
	s[thread] = append(s[thread], &intent{since: now, node: v, path: v.path})
}

// lookUp reports whether a thread looks a file up because it was sent to. v is what
// has the path, nil for nothing.
func (s intents) lookUp(thread uint32, path string, v *version) bool {
	sent := false
	for _, in := range s[thread] {
		if time.Since(in.since) > intentLife {
			continue
		}
		in.lookedUp = true
		if v != nil && (in.node == v || in.path == path || in.node.superseded) {
			sent = true
		}
	}
	return sent
}

// inVain reports whether a thread was sent to look v up, and did not.
func (s intents) inVain(thread uint32, v *version) bool {
	return thread != elsewhere && slices.ContainsFunc(s[thread], func(in *intent) bool { return in.node == v && !in.lookedUp })
}

// met ends what a thread wanted. Those of other namespaces end with time.
func (s intents) met(thread uint32) {
	if thread != elsewhere {
		delete(s, thread)
	}
}
