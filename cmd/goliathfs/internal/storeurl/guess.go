package storeurl

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
)

// guess returns, for a message, how the file or folder that someone has named
// without a scheme is written as a store; "" if it is none.
func guess(raw string) string {
	name, query, _ := strings.Cut(raw, "?")
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		if isBadger(name) {
			return spelled(Badger, name, query)
		}
		return spelled(Static, name, "") + ", or " + spelled(Dir, name, "") + " for copy and diff"
	case info.Mode()&fs.ModeSocket != 0:
		return spelled(Unix, name, "")
	case backupfile.Is(name):
		return spelled(Backup, name, query)
	case isJournal(name):
		return URL{Scheme: Journal, Target: name}.String()
	case filepath.Ext(name) == ".json", filepath.Ext(name) == ".txtar":
		return spelled(Static, name, "")
	case info.Mode().IsRegular() && database.IsSQLite(name):
		return spelled(SQLite, name, query)
	}
	return ""
}

func spelled(s Scheme, name, query string) string {
	if query != "" {
		query = "?" + query
	}
	return string(s) + ":" + Escape(name) + query
}

// isBadger reports whether a folder has the label of a Badger store.
func isBadger(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "goliathfs.json"))
	return err == nil
}
