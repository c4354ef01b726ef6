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
// # Editing
//
// With Options.ReadWrite a file that is opened for writing gets a buffer and a
// node of its own; close and fsync commit the buffer as one revision, replacing
// exactly the one it began with. A file that was only made or emptied, and is still
// open, waits for its first bytes or its last close. After a write that cannot be
// part of a text, or of one that is too long, nothing of that opening is committed.
// Who comes second, an agent or a developer, is
// told: here by ESTALE, or EBUSY from rename and remove, and the bytes are kept
// in a conflict folder whose place is logged. Editors' temporary files and empty
// directories are in memory only. Mode, owner and times are fixed, and setting them
// has no effect; links, devices and renames of full directories are refused, upon
// which mv copies. Locks of files hold between
// processes that opened the same revision in the same way.
//
// # Locks and deadlocks
//
// The kernel holds a directory's lock while it waits for our answer to a lookup
// or listing in it, and takes the same lock to drop a name. Hence three rules: no
// notification is sent while the tree's lock is held, none of a name from a request
// handler, and no handler of a lookup or listing waits for a writer. Handlers that
// change names do wait for the store, under that lock: so a writable mount sends
// only notifications that take no directory's lock: at each change it ends the epoch
// of all names that the kernel keeps. Before Linux 6.16 there are no epochs, so the
// kernel keeps no names, at the price of a request for each part of each path. It
// keeps no listings of a writable mount.
//
// A process must not look into its own mount in a way that stops the Go runtime,
// such as starting a program with exec.Cmd.Dir inside it: the fork waits for the
// change of directory, which waits for this process.
package fusebridge
