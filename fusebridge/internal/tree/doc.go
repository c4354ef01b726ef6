// Package tree is the index of everything that a mount shows: directories, files, and
// the numbers by which the kernel refers to them. A change goes in, and what the
// kernel is to be told comes out. It knows no FUSE, no context and no I/O, and never
// waits.
//
// A File is one revision of one file, so that pages of two revisions cannot mix in the
// kernel's cache. An entry is one name in a directory. What the kernel refers to is
// found by its id for as long as it does, also after it has lost its name.
package tree
