//go:build unix

package sqlitefs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// TestRightsOfFiles: a new database is for its owner alone, and the log, its index
// and a journal have the rights of the main file.
func TestRightsOfFiles(t *testing.T) {
	for _, tt := range []struct {
		name string
		perm fs.FileMode // of a database that is there already; 0 for a new one
		log  bool
		want fs.FileMode
	}{
		{"new", 0, true, 0o600},
		{"private", 0o600, true, 0o600},
		{"shared", 0o664, true, 0o664},
		{"private, with a journal", 0o600, false, 0o600},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			if tt.perm != 0 {
				setup := []string{`CREATE TABLE other(x)`}
				if tt.log {
					setup = append(setup, `PRAGMA journal_mode = WAL`)
				}
				pool(t, file, setup...).Close()
				mustAll(t, os.Chmod(file, tt.perm))
			}
			rightsAre := func(suffix string) {
				t.Helper()
				info, err := os.Stat(file + suffix)
				if err != nil || info.Mode().Perm() != tt.want {
					t.Errorf("%s: %v, %v, want %v", suffix, info, err, tt.want)
				}
			}
			// The journal is there only while a change is made.
			s := open(t, file, &sqlitefs.Options{})
			if _, err := s.Write(t.Context(), "/a", "secret", ""); err != nil {
				t.Fatal(err)
			}
			rightsAre("")
			if tt.log {
				rightsAre("-wal")
				rightsAre("-shm")
			}
		})
	}
}
