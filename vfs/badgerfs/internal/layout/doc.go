// Package layout knows what is in the directory of a Badger store: the files that
// package badgerfs keeps beside the database (a label, a count of commits, an
// inventory), and as much of Badger's own files as it takes to notice, before Badger
// sees them, that something is missing or altered. Badger itself repairs by throwing
// away what it cannot read. It knows nothing of virtual files.
package layout
