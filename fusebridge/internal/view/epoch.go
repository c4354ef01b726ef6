//go:build linux

package view

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Epoch tells the kernel, from Linux 6.16 on, that all names it keeps of one mount are
// to be asked for anew. That takes no lock: so it suits a writable mount, where a
// handler may hold the lock of a directory.
type Epoch struct {
	device *os.File
}

// NewEpoch returns the epoch of the connection behind a descriptor of the FUSE device.
// It fails where the kernel has none.
func NewEpoch(fd int) (*Epoch, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	e := &Epoch{os.NewFile(uintptr(own), "FUSE device")}
	if err := e.end(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// end ends the epoch: what was looked up before it, or is on its way, is not believed
// any more.
func (e *Epoch) end() error {
	const (
		size     = 16 // of a message that is only a header: its length, the code, no request
		incEpoch = 8
	)
	var message [size]byte
	binary.NativeEndian.PutUint32(message[0:], size)
	binary.NativeEndian.PutUint32(message[4:], incEpoch)
	_, err := e.device.Write(message[:])
	return err
}

// Close frees the epoch's descriptor.
func (e *Epoch) Close() error { return e.device.Close() }
