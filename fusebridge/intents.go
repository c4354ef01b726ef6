//go:build linux

package fusebridge

import "time"

// intents remembers, by thread, who was sent to look a name up because he wants to
// write. The tree's lock guards it.
type intents map[uint32]*intent

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
	for old, in := range s {
		if now.Sub(in.since) > intentLife {
			delete(s, old)
		}
	}
	s[thread] = &intent{since: now, node: v, path: v.path}
}

// lookUp reports whether a thread looks a file up because it was sent to. v is what
// has the path, nil for nothing.
func (s intents) lookUp(thread uint32, path string, v *version) bool {
	in := s[thread]
	if in == nil || time.Since(in.since) > intentLife {
		return false
	}
	in.lookedUp = true
	return v != nil && (in.node == v || in.path == path || in.node.superseded)
}

// inVain reports whether a thread was sent to look v up, and did not.
func (s intents) inVain(thread uint32, v *version) bool {
	in := s[thread]
	return in != nil && in.node == v && !in.lookedUp
}

// met ends what a thread wanted.
func (s intents) met(thread uint32) { delete(s, thread) }
