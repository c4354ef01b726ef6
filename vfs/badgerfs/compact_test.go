package badgerfs_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
)

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	body := strings.Repeat("0123456789abcdef", 1<<16)
	rev := vfs.Revision("")
	for range 500 {
		info, err := s.Write(t.Context(), "/a", body, rev)
		if err != nil {
			t.Fatal(err)
		}
		rev = info.Revision
	}
	du := func() {
		out, _ := exec.Command("sh", "-c", "du -sm "+dir+"; ls -lsh "+dir+"/badger").Output()
		t.Logf("%s", out)
	}
	du()
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	du()
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	du()
}
