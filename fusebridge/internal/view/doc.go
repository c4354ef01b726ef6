// Package view is the read-only file system: it answers the kernel's requests from the
// tree and the contents of a store, follows the store, and tells the kernel what
// changed. What is edited lies over it, in package overlay; a read-only mount does
// without that.
package view
