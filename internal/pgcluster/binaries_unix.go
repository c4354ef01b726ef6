//go:build unix

package pgcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// binaries returns the folder of the newest PostgreSQL that has initdb and postgres.
func binaries() (string, error) {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	usual, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(usual, func(a, b string) int { return version(b) - version(a) })
	usual = append(usual, "/usr/pgsql/bin", "/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin")
	for _, dir := range append(dirs, usual...) {
		if isProgram(filepath.Join(dir, "initdb")) && isProgram(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrNone
}

func version(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
