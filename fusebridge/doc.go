// Package fusebridge shows a vfs.Backend as a directory of this machine, so that
// a developer can look into an agent's files with ls, grep, an editor or git
// while the agent works. It is for programs that embed a store and want it
// mounted, and for the goliathfs command; it is no network file system and no
// access control. Linux only: elsewhere Mount returns ErrUnsupported.
//
// # What is shown
//
// Directories are implied by paths. A file has its exact bytes and the inode
// number of its revision, derived from path and revision, so it is the same
// after a remount. Where a name is both a file and a directory, the directory
// has it and the file shows beside it as name@file. A name over 255 bytes is cut
// and ends in "~" and eight hex digits before its extension.
//
// # How it stays fast
//
// An index of the whole tree is filled by one walk and kept by the store's watch
// stream, so names, attributes and listings never wait for the store. The kernel
// is told once that open, opendir, flush and access have no work to do, and may
// keep names, attributes, listings and pages for an hour: a warm grep asks
// nothing of this process.
//
// Who reads the files of a directory one after another has the next ones put into the
// page cache unasked, read from the store together with the one that is asked for; see
// Options.NoStoreAhead. In a writable mount each file comes with its opening, and the
// kernel still asks for every opening.
//
// # How it stays true
//
// Nodes are immutable: one per directory and one per (path, revision). A new
// revision is a new inode, so pages of two revisions cannot mix, in the page
// cache as little as anywhere else, and who reads an old one reads it to its
// end. After a change the new index is published, then the kernel is told to drop
// the name, and only then does the write return. A revision that was replaced
// while the kernel refers to it keeps its bytes here until the kernel forgets
// it; if they cannot be had, reading gives ESTALE.
//
// A store that cannot watch is walked again every Options.Poll, and its changes
// show then. What the agent changes does not pass through the kernel, so inotify
// stays silent; watch the store instead. A file that is replaced is another inode,
// so follow a log by its name, with tail -F -s 0.3 --max-unchanged-stats=1: without
// that, tail looks at the name too seldom to see every replacement.
//
// A place that other processes change, of which the store hears late, is asked at
// every opening instead: who opens a file there sees the latest, and reads to its end
// what it opened.
//
// # Editing
//
// With Options.ReadWrite a file that is written gets a draft, which lives on the node
// that was opened: who has that node open sees what is typed, as on any file system.
// Close and fsync commit the draft as one revision, replacing exactly the one it began
// with, and the node stands for that from then on. A file that was only made or
// emptied, and is still open, waits for its first bytes or its last close. After a
// write that cannot be part of a text, or of one that is too long, nothing of that
// opening is committed.
//
// Who comes second, an agent or a developer, is told: here by ESTALE, or EBUSY from
// rename, remove and truncate by name, and the bytes are kept in a conflict folder whose
// place is logged. A process replaces what it saw last of a file, or wrote there, and
// nothing that the agent wrote since, whether it empties the file or renames another over
// it; where it is not remembered what it saw, it is refused once. A rename is one step or
// none.
//
// Temporary files of editors and other programs, and empty directories, are in memory
// only; a file that is renamed to such a name stays in the store until another takes
// its place. Mode, owner and times are fixed, and setting them has no effect; links,
// devices and renames of full directories are refused, upon which mv copies. Locks of
// files hold between processes that opened the same revision.
//
// # Rooms
//
// internal/mountpoint is the host's side: which mounts there are and how they go.
// internal/tree is the index: a change goes in, what the kernel is to be told comes
// out. internal/view is the read-only file system over both tree and store.
// internal/overlay is what is being edited, over a view. This package puts them
// together.
//
// # Locks
//
// In the order in which they are taken; who holds one takes only those below it.
//
//  1. The kernel's lock of a directory. It is held for us while we answer a lookup or
//     listing in it, and a create, rename or unlink; and taken to drop a name.
//  2. Server.mu guards that unmounting happens once.
//  3. The gate of a draft (overlay) is held while the store is asked about it: commits,
//     renames, removals and openings for writing of one file come one after the other.
//     Whoever waits for it can be interrupted, and waits no longer than for the store.
//  4. The tree's lock guards everything in memory: the tree, the drafts and their states,
//     claims and sights. It is held for moments, never over a call of the store, a
//     notification or another wait.
//  5. The locks of Routes, of the cache of contents, and of a request's Context guard
//     these alone; nothing else is taken or waited for under them.
//
// Bytes are sent ahead by one handler at a time, under none of these: the kernel waits
// for another handler's answer to a read of the same page. Who has the gate of a draft has
// waited for bytes of that file that were on their way; none follow while there is a draft.
//
// No notification is sent under 4 or 5, and none of a name is waited for in a handler or
// under a gate for more than a moment: the kernel waits for our answers before it drops a
// name. A handler that sees a change before it is told has it told from a goroutine, and
// the change's own event waits for that. Handlers that change names wait for the store
// under lock 1, so in a writable mount a name that is not dropped at once is left to a
// goroutine, and while such a handler is at work none is dropped: the epoch of all names
// that the kernel keeps is ended instead, which takes no lock. Before Linux 6.16 there are
// no epochs, so the kernel keeps no names, at the price of a request for each part of each
// path. A listing of a writable mount is kept through one opening of the
// directory at a time, so that none which was asked for before a change can be dated after
// it.
//
// Goroutines belong to the Server, whose Wait returns when they have ended, or to one
// request. The exceptions end with what the kernel does: the loop of go-fuse, when the
// last user of a detached mount lets go of it, and the question whether a mount hangs.
//
// A process must not look into its own mount in a way that stops the Go runtime, such as
// starting a program with exec.Cmd.Dir inside it: the fork waits for the change of
// directory, which waits for this process.
package fusebridge
