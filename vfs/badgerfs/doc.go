// Package badgerfs keeps virtual files on disk in a Badger v4 database, for one
// process at a time and any number of goroutines. It is no server: a second
// process reaches the files through the first one.
//
// # The directory
//
// A store is a directory of its own:
//
//	goliathfs.json  what this is, and its format version, for people and programs
//	commits         how many commits were acknowledged
//	files.json      which of Badger's files must be there, and how long they are
//	badger/         Badger's own files
//	index/          indexes of searches, once there are any; see Search
//
// Open makes it in a directory that is empty or missing, and touches nothing
// anywhere else: it looks at every file before Badger may, because Badger repairs
// by throwing away what it cannot read. A directory that is in use, foreign, of
// another format or damaged is refused with an error of its own, and stays as it
// is. Copy a closed store with any tool, all entries together; index/ may be left
// out.
//
// # Files
//
// A file is two records: its metadata, which lists and stats read, and its
// content. The metadata holds length and checksum of the content, and every read
// compares them, so a damaged file is an error that matches ErrDamaged, never
// other bytes and never "no such file". Keys sort as vpath.Compare does.
//
// # Writing
//
// Concurrent writes are committed in groups: one transaction, one sync of the
// disk. Writers of a group are checked one after the other inside that
// transaction, so check and change are one step, without retries. A write
// returns when its group is on disk; with Options.Relaxed when it would survive
// the end of the process, but not a loss of power.
//
// # Views
//
// Namespace gives another view of the same database. Each view is closed on its
// own and the database with the last one; a closed view answers fs.ErrClosed.
// Views of one namespace see each other's writes and watch each other's changes.
//
// # Size
//
// Contents of 16 KiB and more live in value logs of 16 MiB, whose old versions
// only Compact removes. An open store holds about 10 MiB of memory. While
// hundreds of MiB are being written, Badger holds up to 200 MiB more to build
// tables, which it gives back later, and the mapped logs count as resident too.
//
// A store leaves 64 MiB of the disk free and refuses writes from there on, because
// Badger does not survive a full disk.
package badgerfs
