// Command goliathfs keeps, looks at, mounts and replays an agent's virtual text files.
//
// A store is named by a URL such as badger:./notes or sqlite:./agent-files.db;
// package storeurl has the grammar. Each verb is one file of this package.
// Results go to standard output and diagnostics to standard error. The exit
// status is 0 when the verb has done its work, 1 when it was refused, failed in
// part or found a difference, and 2 when it was used wrongly.
package main
