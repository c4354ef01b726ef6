package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// asideFile is a file that is made when something is written to it.
type asideFile struct {
	base, ext string // around the time in its name
	f         *os.File
}

// Write appends to the file and waits for the disk, for what is written is
// replaced next.
func (a *asideFile) Write(data []byte) (int, error) {
	if a.f == nil {
		_, err := asideName(a.base, a.ext, func(name string) (err error) {
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

func (a *asideFile) close() error {
	if a.f == nil {
		return nil
	}
	return a.f.Close()
}

// putAside gives a folder a name beside it that has the time in it.
func putAside(dir, mark string) (string, error) {
	return asideName(dir+mark, "", func(name string) error {
		if _, err := os.Lstat(name); err == nil {
			return fs.ErrExist // Rename would take an empty folder
		}
		return os.Rename(dir, name)
	})
}

// mostAside is how many things can be kept within one second.
const mostAside = 1000

// asideName returns the first name with the present second in it that take does
// not find taken.
func asideName(base, ext string, take func(name string) error) (string, error) {
	stamp := base + time.Now().UTC().Format("20060102T150405Z")
	name := stamp + ext
	err := take(name)
	for n := 2; errors.Is(err, fs.ErrExist) && n <= mostAside; n++ {
		name = fmt.Sprintf("%s-%d%s", stamp, n, ext)
		err = take(name)
	}
	return name, err
}
