package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// quarantineFile is a file that is made when something is written to it.
type quarantineFile struct {
	base, ext string // around the time in its name
	f         *os.File
}

// Write appends to the file and waits for the disk, for what is written is
// replaced next.
func (a *quarantineFile) Write(data []byte) (int, error) {
	if a.f == nil {
		_, err := quarantineName(a.base, a.ext, func(name string) (err error) {
			a.f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("cannot keep what is replaced: %w", err)
		}
	}
	n, err := a.f.Write(data)
	return n, errors.Join(err, a.f.Sync())
}

func (a *quarantineFile) close() error {
	if a.f == nil {
		return nil
	}
	return a.f.Close()
}

// quarantineDir gives a folder a name beside it that has the time in it.
func quarantineDir(dir, mark string) (string, error) {
	return quarantineName(dir+mark, "", func(name string) error {
		if _, err := os.Lstat(name); err == nil {
			return fs.ErrExist // Rename would take an empty folder
		}
		return os.Rename(dir, name)
	})
}

// mostQuarantined is how many things can be kept within one second.
const mostQuarantined = 1000

// quarantineName returns the first name with the present second in it that take does
// not find taken.
func quarantineName(base, ext string, take func(name string) error) (string, error) {
	stamp := base + time.Now().UTC().Format("20060102T150405Z")
	name := stamp + ext
	err := take(name)
	for n := 2; errors.Is(err, fs.ErrExist) && n <= mostQuarantined; n++ {
		name = fmt.Sprintf("%s-%d%s", stamp, n, ext)
		err = take(name)
	}
	return name, err
}
