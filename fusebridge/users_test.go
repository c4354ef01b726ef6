//go:build linux

package fusebridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// TestUnmountOfAnother: who may not unmount it is told whose it is.
func TestUnmountOfAnother(t *testing.T) {
	needTool(t, "setpriv")
	if syscall.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	s := mount(t, newMem(t, nil), nil)
	self, dir := programFor(t)
	run(t, "chmod", "755", dir, filepath.Dir(s.Dir()))
	got := run(t, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", childEnv+"=unmount", self, s.Dir())
	if want := s.Dir() + " cannot be unmounted, it belongs to the user with the number 0: ask them or root\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// programFor copies this program where any user may start it, and returns it and its
// directory.
func programFor(t *testing.T) (self, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fusebridge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self = filepath.Join(dir, "self")
	run(t, "cp", program, self)
	run(t, "chmod", "755", dir, self)
	return self, dir
}

// inNamespace runs the test binary's role as a normal user, or root, in a mount
// namespace of its own, prepared by a script.
func inNamespace(t *testing.T, prepare, role string, asUser bool) string {
	t.Helper()
	needTool(t, "unshare")
	needTool(t, "setpriv")
	if syscall.Geteuid() != 0 {
		t.Skip("only root can make a mount namespace")
	}
	self, base := programFor(t) // the target must be reachable for that user, too
	target := filepath.Join(base, "mnt")
	run(t, "sh", "-c", "mkdir "+target+"; chown 65534:65534 "+target)
	user := ""
	if asUser {
		user = "setpriv --reuid 65534 --regid 65534 --clear-groups "
	}
	script := prepare + "\nexec " + user + "env " + childEnv + "=" + role + " " + self + " " + target
	return run(t, "unshare", "-m", "sh", "-c", script)
}

// TestNoDevice: without a FUSE device the answer is a sentence.
func TestNoDevice(t *testing.T) {
	needFuse(t)
	tests := []struct {
		name, prepare, want string
		asUser              bool
	}{
		{"none", "mount -t tmpfs none /dev", "there is no /dev/fuse here", false},
		{"something else", "mount --bind /dev/null /dev/fuse", "is not the FUSE device", false},
		{"not allowed", "mount -t tmpfs none /dev; mknod -m 600 /dev/fuse c 10 229", "may not be opened by this user", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := inNamespace(t, tt.prepare, "mount", tt.asUser)
			if !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 2 {
				t.Errorf("it says:\n%s\nwant one sentence with %q", got, tt.want)
			}
		})
	}
}

// TestNormalUser mounts through fusermount3.
func TestNormalUser(t *testing.T) {
	needFuse(t)
	needTool(t, "fusermount3")
	prepare := "mount -t tmpfs none /mnt; mknod -m 666 /mnt/fuse c 10 229; mount --bind /mnt/fuse /dev/fuse"
	got := inNamespace(t, prepare, "mount", true)
	want := "direct: false\ncat: seen <nil>\ntouch: true\nunmount: <nil>\nwait: <nil>\n"
	if got != want {
		t.Errorf("the user got:\n%s\nwant:\n%s", got, want)
	}
}

// TestAllowOther: another user gets in only when asked for, and then under the
// mode bits.
func TestAllowOther(t *testing.T) {
	needTool(t, "setpriv")
	if syscall.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	tests := []struct {
		allow      bool
		read, edit bool
	}{{false, false, false}, {true, true, false}}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.allow), func(t *testing.T) {
			needFuse(t)
			dir, err := os.MkdirTemp("", "fusebridge")
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(dir)
			opts := writable(t)
			opts.AllowOther = tt.allow
			s, err := fusebridge.Mount(t.Context(), newMem(t, map[string]string{"/f": "x\n"}), dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Wait()
			defer s.Unmount()
			as := []string{"--reuid", "65534", "--regid", "65534", "--clear-groups"}
			if _, err := tryRun(t, "setpriv", append(as, "cat", under(s, "/f"))...); (err == nil) != tt.read {
				t.Errorf("reading as another user: %v, want success %v", err, tt.read)
			}
			if _, err := tryRun(t, "setpriv", append(as, "sh", "-c", "echo y >>"+under(s, "/f"))...); (err == nil) != tt.edit {
				t.Errorf("writing as another user: %v, want success %v", err, tt.edit)
			}
		})
	}
}
