package badgerfs_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// TestPowerLoss loses the newest commits of a store, as when power goes before
// they are on disk: a synced store must not have lost them, a relaxed one may,
// but only if the operating system was started anew.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		relaxed, rebooted bool
		refused           bool
	}{{false, false, true}, {false, true, true}, {true, false, true}, {true, true, false}} {
		t.Run(fmt.Sprintf("relaxed=%v rebooted=%v", c.relaxed, c.rebooted), func(t *testing.T) {
			dir := t.TempDir()
			v := victim{t, t.TempDir()}
			s := open(t, dir, &badgerfs.Options{Relaxed: c.relaxed})
			for n := range 10 {
				write(t, s, fmt.Sprintf("/%d", n), strings.Repeat("x", 3000))
			}
			copyTree(t, dir, v.dir)
			v.cutData(v.last(".mem"), 0.6)
			if c.rebooted {
				text, err := os.ReadFile(v.path("commits"))
				v.must(err)
				v.write(v.path("commits"), regexp.MustCompile("boot .*").ReplaceAllString(string(text), "boot earlier"))
			}
			if c.refused {
				refuse(t, v.dir, nil, badgerfs.ErrDamaged, "of 10 acknowledged commits are missing")
				return
			}
			left := open(t, v.dir, nil)
			if n := len(paths(t, left, "/")); n == 0 || n == 10 {
				t.Errorf("%d of 10 files are left", n)
			}
			sound(t, left)
		})
	}
}
