package sqlitefs

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"
)

// rights returns the query to open a database with, so that what SQLite makes beside
// it, which holds its texts too, has the rights of the main file and not those that
// the umask leaves.
func rights(file string) (query string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	logged, err := asksForLog(file)
	if err == nil && logged {
		err = makeIndex(file+"-shm", info)
	}
	// SQLite takes a plus sign for what it is.
	return "mode=rw&modeof=" + strings.ReplaceAll(url.QueryEscape(file), "+", "%20"), err
}

// makeIndex makes the file for the index of the log, to which the driver would give
// the rights that the umask leaves.
func makeIndex(name string, main fs.FileInfo) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil // it is there, or SQLite will say what is in the way
	}
	giveTo(f, main)
	return errors.Join(f.Chmod(main.Mode().Perm()), f.Close())
}

// asksForLog reports whether a database's header asks for a write-ahead log.
func asksForLog(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	var versions [2]byte
	_, err = f.ReadAt(versions[:], 18)
	return versions[0] == 2 || versions[1] == 2, errors.Join(err, f.Close())
}
