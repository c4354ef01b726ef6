// Package histories lets several clients work on one store at the same time,
// with contexts that end in the middle, servers that are killed, connections that
// are cut and watchers that come and go, and then judges what they saw. It has
// tests only and nothing to import.
//
// Each path's history is checked for linearizability: there is one order of all
// calls, within the time that each took, in which every answer is right. A call
// whose outcome its client does not know may have happened or not. Each watcher's
// events are checked against the same history: in order of commit, without a gap
// that no overflow tells, and at the end the state that is there.
//
// The judge is itself tested, on stores made wrong on purpose. GOLIATHFS_FULL=1
// makes each test last minutes instead of a second.
package histories
