// Package vfs is the contract between stores of virtual text files and what
// uses them: agent tools, a mount, a replay. It is for people who embed agent
// files in a Go program and for people who write a backend. It holds no store
// (see memfs, staticfs, routefs, badgerfs, sqlitefs, postgresfs, remotefs) and never touches
// the host's file system.
//
// Call the package functions (Read, List, Write, Remove, Stat, Search, RouteOf,
// Watch) rather than a backend's methods: they canonicalize paths, use what the
// backend offers beyond the least or fall back, and put operation and path on
// every error, in a *fs.PathError.
//
// What stands on the contract is beside it: package walk goes through all files, or
// the children of one directory; package batchread reads many files at once; package
// wrap makes a backend read-only, or one of a directory alone; package iofs makes it an
// io/fs.FS.
//
// # Paths
//
// Paths are absolute, at most 512 UTF-16 code units long, and slash-separated;
// package vpath has the grammar. Directories are implied: they exist while a
// file lies below them. "/a" and "/a/b" may both be files. No character is
// special. Order is by UTF-16 code unit everywhere.
//
// # Revisions
//
// Every version of every file has a Revision, opaque and never reused. A write
// names the revision it replaces, or none to create; check and change are one
// step, so of any number of writers with one revision exactly one succeeds. Size
// and modification time belong to the revision.
//
// # Listing
//
// List is recursive, sorted and paged: follow Page.Next through
// ListOptions.After until it is empty. Any string can be the bound, which is how
// walk.Dir seeks over a subtree: to dir + "/" followed by 512 times U+FFFF, which
// no path below dir reaches and no sibling, such as "/d0", precedes.
//
// Search is List less files that cannot hold a text: candidates, which the caller
// reads and looks at. Its pages may be short, or empty, while Page.Next is set.
//
// A page that cannot be right, with a path outside the directory, out of order, or
// with a Next that does not advance, is an error to those who use the package
// functions, so that following pages always comes to an end.
//
// # Errors
//
// Backends return errors that match ErrNotFound, ErrConflict, ErrReadOnly,
// ErrInvalidPath, ErrTooLarge or ErrNotText with errors.Is; Code gives each a
// stable name. Whatever else comes is a failure of the store, code "store";
// ErrUnavailable, of the same code, says that it may be back later, and Route
// tells whether it is.
//
// # Writing a backend
//
// Implement Backend, and Writer, Remover, Statter, Watcher, Router, Searcher and
// BatchReader where the store can; package revision makes revisions, package watch
// delivers events in order, vpath.AppendKey makes byte keys that sort right,
// textfile.Check has the limits of the built-in backends. Then call
// vfstest.TestBackend from a test: it checks every sentence of these comments.
// A wrapper forwards each optional interface to an Inner, which falls back where
// the backend inside lacks one.
//
// # Concurrency
//
// Backends and everything in this package are safe for concurrent use. Contents
// are Go strings: immutable, shared without copies.
package vfs
