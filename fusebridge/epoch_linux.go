package fusebridge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// epoch tells the kernel, from Linux 6.16 on, that all names it keeps of one mount are
// to be asked for anew. That takes no lock: so it suits a writable mount, where a
// handler may hold the lock of a directory.
type epoch struct {
	device *os.File
}

// newEpoch returns the epoch of the connection with a number. It fails where the
// kernel has none.
func newEpoch(connection string) (*epoch, error) {
	fd, err := deviceOf(connection)
	if err != nil {
		return nil, err
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	e := &epoch{os.NewFile(uintptr(own), fuseDevice)}
	if err := e.end(); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// end ends the epoch: what was looked up before it, or is on its way, is not believed
// any more.
func (e *epoch) end() error {
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

func (e *epoch) close() error { return e.device.Close() }

// deviceOf finds the descriptor of this process behind a connection, which go-fuse
// does not tell; the kernel does from 6.16 on.
func deviceOf(connection string) (int, error) {
	fds, err := ownDevices()
	if err != nil {
		return 0, err
	}
	for _, fd := range fds {
		if connectionIn(fmt.Sprint("/proc/self/fdinfo/", fd)) == connection {
			return fd, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not tell which device is that of the connection %s: %w", connection, errors.ErrUnsupported)
}

// connectionIn returns the number of a FUSE connection in a file of fdinfo, "" for
// none.
func connectionIn(fdinfo string) string {
	info, err := os.ReadFile(fdinfo)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if key, value, _ := strings.Cut(line, ":"); key == "fuse_connection" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
