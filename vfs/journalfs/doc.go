// Package journalfs keeps every revision of a store's files, with the time at which
// it was seen, in one file: a journal. It is for looking at an agent's files as they
// were at any moment.
//
// Wrap puts a journal behind a store of this process: a write is in the journal when
// it returns. Follow keeps a journal of a store that other processes change, and says
// in the journal what it could not see. OpenHistory reads a journal, also while it is
// being written: Log tells what happened, newest first, and At gives the files as they
// were, as a backend that cannot be written.
//
// It is no backup: it is read through its one file, and as it grows beyond its bounds
// the oldest states are folded into one.
//
// # The file
//
// A header of 64 bytes is followed by records, which are only ever added at the end.
// Each begins with 20 bytes that hold its kind, its lengths, checksums of its two
// parts and one of themselves, into which go the record's place and a number that is
// the journal's own, so that no content can pass for a record. The first part is what
// happened, the second the content of the file.
//
// From time to time a checkpoint follows: a table of what was added since the last
// one, and one of all files as they are, sorted. It begins at a multiple of 4,096
// bytes, so that the last one is found from the end, and names the one before it. A
// moment is opened from the checkpoint before it and the table behind it, so that takes
// as long as reading those two, however long the journal is.
//
// A record that a killed process was adding is cut off when the journal is opened for
// writing again; readers leave it out. Any other byte that changed is ErrDamaged, with
// its place.
//
// # When what is written lasts
//
// A write has been handed to the system when it returns, so it survives the end of the
// process, however sudden. It is brought onto the disk at once, beside what the store
// does next: before another write through the journal returns. So a power failure
// takes at most what was written last, and that is still in the store, where Wrap
// finds it when the journal is opened again.
package journalfs
