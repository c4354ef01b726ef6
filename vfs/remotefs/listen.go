package remotefs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// Listen opens an address to serve on: "unix:PATH", a socket that only its owner
// may connect to, or "tcp:HOST:PORT" on the loopback interface, port 0 for any
// free one. A socket that no one listens on any more is replaced; one in use, or
// a file that is no socket, is refused. Closing the listener removes the socket.
func Listen(addr string) (net.Listener, error) {
	network, where, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		l, err := listenUnix(where)
		if err != nil {
			return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
		}
		return l, nil
	}
	l, err := net.Listen(network, where)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s, perhaps the port is taken: %w", addr, err)
	}
	return l, nil
}

// splitAddr takes an address apart and refuses TCP to another machine.
func splitAddr(addr string) (network, where string, err error) {
	network, where, _ = strings.Cut(addr, ":")
	switch {
	case network == "unix" && where != "":
		return network, where, nil
	case network != "tcp" || where == "":
		return "", "", fmt.Errorf("%w: the address %q is neither unix:PATH nor tcp:127.0.0.1:PORT", fs.ErrInvalid, addr)
	}
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		return "", "", fmt.Errorf("%w: the address %q has no port, write tcp:127.0.0.1:PORT", fs.ErrInvalid, addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", "", fmt.Errorf("%w: %q is not on this machine's loopback interface, write tcp:127.0.0.1:PORT", fs.ErrInvalid, host)
	}
	return network, where, nil
}

// maxSocketPath is how long the path of a socket may be on every system, in bytes.
const maxSocketPath = 103

// listenUnix makes the socket in a folder that only its owner may enter, sets
// its mode there, and only then gives it its name: at no moment can another user
// connect.
func listenUnix(path string) (net.Listener, error) {
	dir := filepath.Join(filepath.Dir(path), "."+rand.Text()[:5])
	fresh := filepath.Join(dir, "s")
	if n := max(len(path), len(fresh)); n > maxSocketPath {
		return nil, fmt.Errorf("the path is %d bytes too long for a socket, choose a shorter one", n-maxSocketPath)
	}
	if err := RemoveStale(path); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("its folder must exist and be writable: %w", reason.Of(err))
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	info, err := os.Lstat(fresh)
	if err == nil {
		err = os.Chmod(fresh, 0o600)
	}
	if err == nil {
		err = os.Link(fresh, path) // unlike a rename it replaces nothing
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path, info}, nil
}

// RemoveStale removes a socket that no one listens on any more, as a server that was
// killed leaves it. One that someone listens on, or of which that cannot be told, is an
// error, and so is a file that is no socket; one that is not there is none.
func RemoveStale(path string) error {
	before, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its folder cannot be looked into, choose another path: %w", reason.Of(err))
	}
	if before.Mode()&fs.ModeSocket == 0 {
		return errors.New("there is a file that is not a socket, choose another path")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		return errors.Join(errors.New("an agent listens there already, end it or choose another path"), conn.Close())
	}
	if !isRefused(err) {
		return fmt.Errorf("it cannot be told whether an agent listens there, choose another path: %w", err)
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(before, now) {
		return errors.New("another program is taking this path, choose another one")
	}
	return os.Remove(path)
}

// socket is a listener that removes its own socket, and no other's, when it is
// closed.
type socket struct {
	*net.UnixListener
	path string
	made os.FileInfo
}

// Addr returns the name that the socket was given.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if errors.Is(err, net.ErrClosed) {
		return err
	}
	if now, statErr := os.Lstat(s.path); statErr == nil && os.SameFile(s.made, now) {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
