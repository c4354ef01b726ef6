package remotefs_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

func TestSocketIsPrivate(t *testing.T) {
	addr := socketAddr(t)
	path := strings.TrimPrefix(addr, "unix:")
	l := listen(t, addr)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v, %v", entries, err)
	}
	if l.Addr().Network() != "unix" || l.Addr().String() != path {
		t.Errorf("the listener is at %v", l.Addr())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after closing: %v", err)
	}
}

func TestSocketThatIsThere(t *testing.T) {
	addr := socketAddr(t)
	path := strings.TrimPrefix(addr, "unix:")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remotefs.Listen(addr); err == nil || !strings.Contains(err.Error(), "an agent listens there already") {
		t.Errorf("a socket in use: %v", err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	serve(t, listen(t, addr), teststore.Memory(t, nil), nil)
	dial(t, addr, nil)

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := remotefs.Listen("unix:" + file); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file: %v", err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// TestClosingLeavesAnothersSocket replaces a socket while its listener is open.
func TestClosingLeavesAnothersSocket(t *testing.T) {
	addr := socketAddr(t)
	path := strings.TrimPrefix(addr, "unix:")
	old := listen(t, addr)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	next := listen(t, addr)
	defer next.Close()
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the newer socket is gone: %v", err)
	}
}

func TestRefusedAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"":                     "neither unix:PATH nor tcp:127.0.0.1:PORT",
		"unix:":                "neither unix:PATH",
		"http://x":             "neither unix:PATH",
		"tcp:127.0.0.1":        "has no port",
		"tcp:0.0.0.0:0":        "loopback",
		"tcp::0":               "loopback",
		"tcp:example.com:80":   "loopback",
		"tcp:192.168.1.1:1000": "loopback",
		"unix:" + t.TempDir() + "/missing/agent.sock":          "folder must exist and be writable: no such file or directory",
		"unix:" + t.TempDir() + "/" + strings.Repeat("x", 120): "shorter",
	} {
		if _, err := remotefs.Listen(addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Listen(%q): %v, want %q", addr, err, want)
		}
		if _, err := remotefs.Dial(t.Context(), addr, nil); err == nil {
			t.Errorf("Dial(%q) succeeded", addr)
		}
	}
}

// TestServeRefusesStrangers looks at listeners that others could reach.
func TestServeRefusesStrangers(t *testing.T) {
	b := teststore.Memory(t, nil)
	if err := remotefs.Serve(t.Context(), listen(t, "tcp:127.0.0.1:0"), b, nil); vfs.Code(err) != "invalid-argument" {
		t.Errorf("TCP without a token: %v", err)
	}
	everywhere, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = remotefs.Serve(t.Context(), everywhere, b, &remotefs.ServeOptions{TokenFile: tokenFile(t, token)})
	if vfs.Code(err) != "invalid-argument" || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("TCP on every interface: %v", err)
	}
	if _, err := everywhere.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener was left open: %v", err)
	}
}

func TestToken(t *testing.T) {
	l := listen(t, "tcp:127.0.0.1:0")
	addr := "tcp:" + l.Addr().String()
	right := tokenFile(t, token)
	serve(t, l, teststore.Memory(t, nil), &remotefs.ServeOptions{TokenFile: right})
	dial(t, addr, &remotefs.DialOptions{TokenFile: right})
	for _, opts := range []*remotefs.DialOptions{nil, {TokenFile: tokenFile(t, token+"x")}, {TokenFile: tokenFile(t, token[1:])}} {
		if _, err := remotefs.Dial(t.Context(), addr, opts); err == nil || !strings.Contains(err.Error(), "the token is not the agent's") {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	for content, want := range map[string]string{"": "0 bytes", "short": "5 bytes", strings.Repeat("x", 5000): "bytes where"} {
		if _, err := remotefs.ReadToken(tokenFile(t, content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a token of %d bytes: %v", len(content), err)
		}
	}
	open := tokenFile(t, token)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := remotefs.ReadToken(open); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a token that all can read: %v", err)
	}
}
