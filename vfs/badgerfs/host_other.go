//go:build !linux && !darwin && !freebsd

package badgerfs

import "errors"

var errNoSpace = errors.New("no space left")

// ownLock leaves locking to Badger, whose errors are less clear.
const ownLock = false

// dirLock does nothing where there is no flock.
type dirLock struct{}

func lockDir(dir string, readOnly bool) (*dirLock, error) { return &dirLock{}, nil }

func (*dirLock) announce() {}

func (*dirLock) release() error { return nil }

func freeBytes(dir string) (int64, error) { return 0, errors.ErrUnsupported }
