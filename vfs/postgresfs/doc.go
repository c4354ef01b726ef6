// Package postgresfs keeps virtual files in a PostgreSQL database, so that agents on
// many machines share them. It is for whoever runs such a server already. It is not a
// general SQL layer, and promises what it does for PostgreSQL alone: databases that
// speak its protocol lack or change notifications and isolation.
//
// # The database
//
// Open takes a URL and owns its connections. New takes a pool of the caller's, which is
// never closed or configured. The tables (Schema) are made by the first operation of
// whoever may; a role that lacks rights is told what to run, and one that may only read
// has a read-only store. Tables of a later version are refused.
//
// All applications of a database share the tables and keep apart by namespaces.
//
// # Writing
//
// A change is one statement: check, change, number, log and notification. One whose
// answer is lost is sent again, for Options.Timeout, in a way that makes it once; only
// when nothing is heard for so long does the error say that it is not known whether it
// was done, and watchers are told to look again. What a program's writers change in a
// namespace while two transactions are under way is made in one.
//
// # Watching
//
// Each namespace has a counter, which a change locks until its commit, and a log with
// those numbers; so the log is in the order of commits and has no gaps. Watchers read
// it when they are notified, which a writer's program does after the commit if anyone
// listens, and once a second in any case; a restart of the server, a failover or a cut
// connection loses no event. Behind a pooler that shares
// connections between transactions notifications do not arrive: then the log is read
// every Options.PollInterval.
//
// # Searching
//
// Rows have the grams of their contents as numbers, in an index of the server. They are
// made in the background when a search meets many files without, by a program that may
// write; until then, and after each change, a file is a candidate of every search.
//
// # Replicas
//
// A replica may not show yet what a write that has returned has changed, so none is read.
package postgresfs
