package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/goliathfs/goliathfs/vfs"
)

// ErrFull is matched by the error of a copy that ended because nothing more can
// be written.
var ErrFull = errors.New("the disk is full")

// failure is the step of a file that failed, unless that is because ctx ended or
// because nothing can be written any more.
func failure(ctx context.Context, path string, err error) (*Step, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fullDisk(err):
		return nil, fmt.Errorf("%w, so it stopped at %s, make room and run it again to continue: %s", ErrFull, path, Reason(err))
	}
	return &Step{Action: Fail, Path: path, Reason: Reason(err), Err: err}, nil
}

// fullDisk reports whether err says that a disk, or what the user may have of it,
// is full.
func fullDisk(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Reason words the error of one file as the end of a sentence.
func Reason(err error) string {
	if errors.Is(err, vfs.ErrConflict) {
		return "someone changed it meanwhile, copy again"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
