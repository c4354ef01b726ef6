// Package sqlitefs keeps virtual files in one table of a SQLite database, the
// table that the phone library uses, so that a database copied from a device
// opens as it is. It is for people who want an app's agent files on their desk,
// and for programs that keep agent files next to their own tables. It is not a
// general SQL layer: nothing but the one table is ever written.
//
// # The database
//
// Open takes a file and owns the connections it makes to it. New and NewLazy
// take the caller's connections: those are never closed and get no setting, and
// what the caller does in them stays the caller's affair. A transaction that the
// caller began by hand on the only connection of a pool would take writes of
// this package with it, so give the store a pool of its own.
//
// The table goliath_files_v1 and its index goliath_files_order_v1 are made when
// they are missing. Other tables and PRAGMA user_version stay as they are.
// Databases may have a write-ahead log or a rollback journal, and any text
// encoding; in a UTF-16 database sizes are unknown (-1) until a file is read.
// Where triggers of the app need functions that only the app has, files can be
// read, and a write fails with a sentence that names what is missing. Triggers may
// keep books beside the files, but a change that they turn into another one is
// undone and refused, whichever side made the connections, and also by triggers
// that were added after the store was opened.
//
// What triggers, rules and generated columns compute is bounded on connections that
// Open made: they reach nothing outside the database, values are at most 32 MiB,
// what does not fit into the 256 MiB of a connection is an error, and triggers run
// for a minute at most. A caller's connections keep the caller's settings, so give a
// stranger's database to Open. Larger values in other tables of the app are no
// hindrance to files, Backup and Compact; Check names the tables that it cannot
// look into for them.
//
// # Rows that break the rules
//
// Other programs write to the table too. A row whose path is no canonical path,
// whose order key is not that of its path, or that has no revision is left out
// of lists, and an operation on its path fails with a sentence that names the
// fault. Content that is a BLOB or not UTF-8 is listed, and reading it is
// vfs.ErrNotText; over 1 MiB it is vfs.ErrTooLarge. Check names all of these,
// and repairs them when asked.
//
// # Waiting
//
// Writes of one store take turns, and each is a single statement that checks the
// revision and changes the row. While another program holds the database, an
// operation waits up to Options.BusyTimeout and then fails with one sentence. A
// write for which the disk has no room fails with an error that matches
// syscall.ENOSPC.
//
// # Memory
//
// A store that Open made has up to 2 + 2·GOMAXPROCS connections, as many as run at
// once, and each keeps up to 4 MiB of the database.
//
// # Durability
//
// An acknowledged write survives the end of the process at any moment, and, as
// far as the disk keeps its promises, a power failure; with Options.Relaxed a
// power failure may take the last writes, never the database. A new file gets a
// write-ahead log, so while it is open the main file alone may lack the last
// second of writes: copy a database in use with Backup. After Close the main
// file is complete by itself, unless another program still has it open.
// SQLite keeps no checksums of contents: a flipped bit inside a text that is
// still UTF-8 cannot be found.
package sqlitefs
