// Package overlay is what is being edited, over a view: the file system of a writable
// mount.
//
// A draft is the text of a node that is open for writing, or that the store does not
// have. It lives on the node that was opened, as on any file system, and after its
// commit the node stands for the new revision. What an agent writes meanwhile gets a
// node of its own; the draft's commit then loses, and its writer is told. The states of
// a draft, and what leads from one to the next, are the table in state.go.
//
// A file that is renamed to a temporary name is hidden in the mount only: the store
// keeps it until another takes its place or the temporary file is removed, so that an
// agent never finds it missing while an editor saves.
//
// Two locks. The gate of a draft is held while the store is asked about it, so that
// commits, renames and removals of a file come one after the other; whoever waits for
// it can be interrupted. The tree's lock guards everything in memory, is held for
// moments only, and is taken under a gate, never the reverse. A rename takes the gates
// of both its files, the one that moves first; the kernel lets no two renames meet at a
// file, and whoever holds one gate otherwise waits for no other.
package overlay
