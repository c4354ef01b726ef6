package badgerfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// asUser runs fn with the rights of an ordinary user. To root nothing is
// forbidden, so there the thread's rights to files are those of nobody.
func asUser(t *testing.T, fn func()) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.SetfsuidRetUid(0)
	}
	fn()
}

// What may not be read says nothing about what is in it, so it is no damage, and
// no reason to build the store anew.
func TestUnreadableIsNotDamaged(t *testing.T) {
	v := victim{t, t.TempDir()}
	if err := os.Chmod(filepath.Dir(v.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, v.dir, nil)
	for path, content := range sample() {
		write(t, s, path, content)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(v.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(name, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"goliathfs.json", "commits", "files.json", "badger", "badger/MANIFEST", "badger/KEYREGISTRY", v.last(".sst"), v.last(".vlog")} {
		if filepath.IsLocal(name) {
			name = v.path(name)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			if err := os.Chmod(name, 0); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(name, 0o755)
			for _, opts := range []*badgerfs.Options{{}, {ReadOnly: true}, {ReadOnly: true, AcceptLoss: true}} {
				asUser(t, func() {
					s, err := badgerfs.Open(t.Context(), v.dir, opts)
					if err == nil {
						s.Close()
					}
					if !errors.Is(err, fs.ErrPermission) || errors.Is(err, badgerfs.ErrDamaged) {
						t.Errorf("Open: %v, want an error about rights", err)
					}
					if err != nil && opts.ReadOnly && strings.Contains(err.Error(), "read-only") {
						t.Errorf("Open: %v, which it is already", err)
					}
				})
			}
		})
	}
}
