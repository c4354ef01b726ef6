// Package storeurl reads the store URLs that the command's verbs take and opens
// the stores they name. It is for the command only: a Go program constructs a
// backend from its own package.
//
//	mem:                          an empty store in memory
//	mem:SEED                      the same, filled from a folder, .json or .txtar
//	static:SEED                   such a seed, read-only
//	badger:DIR[?namespace=N]      a Badger store; namespace=* shows all, read-only
//	sqlite:FILE[?namespace=N][&mode=ro]
//	postgres://[USER@]HOST[:PORT]/DATABASE[?namespace=N][&mode=ro]
//	              a PostgreSQL database, and whatever else libpq has in a URL
//	unix:SOCKET                   a running agent
//	tcp:127.0.0.1:PORT?token-file=F
//	backup:FILE[?namespace=N]     what goliathfs backup wrote, read-only
//	dir:PATH                      a host folder, for copy and diff
//
// Opener takes the passwords of PostgreSQL servers from where libpq has them, and from
// Passwords of its context: a URL never holds one.
//
// In a name, "?", "&", "%" and "," are written %3F, %26, %25 and %2C.
package storeurl
