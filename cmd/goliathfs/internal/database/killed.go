package database

import (
	"errors"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
)

// ErrKilled is matched by the errors of a database that is not to be changed by a look
// (Want.AsIs), and whose last writer was killed.
var ErrKilled = errors.New("its last writer was killed")

// LeftBehind returns the name of the log that a killed writer of the SQLite database in
// a file has left, "" when there is none, when someone has the database open, or where
// that cannot be told.
func LeftBehind(name string) string {
	log := LogOf(name)
	if log == "" || !IsSQLite(name) {
		return ""
	}
	real := hostpath.Real(name)
	for _, file := range []string{real, real + "-shm"} {
		if mayBeLocked(file) {
			return ""
		}
	}
	return log
}
