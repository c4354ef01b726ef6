// Package gramindex keeps the search index of a store: from a text to the files
// that may hold it. It is for authors of backends; users call vfs.Search.
//
// # What it holds
//
// Of each file it knows the runs of one, two and three neighbouring characters
// that stand in a line of it, each character as the least of those that simple
// case folding makes equal; of scripts with thousands of characters it knows the runs
// of one and two. A file that holds a text holds all of the text's runs,
// so the files that have them all are a superset of the matches, with and without
// regard to case, and who reads them finds the matches. Files that cannot be read
// as text are candidates of every search.
//
// The index is derived. It can only leave out a file that it should have named, so
// what a scan finds is its test; when it is damaged or lost it is made anew.
//
// # How it is kept
//
// Segments are immutable. One holds blocks of some two thousand files that are
// neighbours in the order of paths, each with the set of its files for every run
// that occurs. Files that were written or removed since form the tail, and are
// candidates of every search too. When there are a few hundred, a job in the
// background makes a segment of them; segments of like size are merged, which
// renumbers files and reads no contents. What a newer segment says of a path
// counts.
//
// An Index is one such index with its tail, job and state. A store calls Mark after
// each change and Search for each page; Source is what the index asks of the store,
// and Parts is where segments are kept that are to outlive the process.
//
// # Concurrency
//
// Writers only ever touch the tail, whose lock is held for a map's insertion.
// Searches hold a lock for reading that a job takes for as long as it exchanges
// pointers. Nothing of the store is called under a lock, but stat under that of
// searches.
package gramindex
