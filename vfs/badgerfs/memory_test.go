package badgerfs_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// reportMemory opens stores and reports the most memory the process had resident,
// in KiB: with one store of a thousand small files, and with twenty stores open.
func reportMemory(ctx context.Context, dir string, out io.Writer) error {
	for i := range 20 {
		s, err := badgerfs.Open(ctx, filepath.Join(dir, strconv.Itoa(i)), nil)
		if err != nil {
			return err
		}
		defer s.Close()
		writes := make([]badgerfs.Write, 1000)
		for n := range writes {
			writes[n] = badgerfs.Write{Path: fmt.Sprintf("/f%d", n), Content: strings.Repeat("small file\n", 90)}
		}
		for _, r := range s.WriteAll(ctx, writes) {
			if r.Err != nil {
				return r.Err
			}
		}
		if i == 0 || i == 19 {
			status, err := os.ReadFile("/proc/self/status")
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			line, _, _ := strings.Cut(rest, "kB")
			fmt.Fprintln(out, strings.TrimSpace(line))
		}
	}
	return nil
}

func TestMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("resident memory is read from /proc, which is missing:", err)
	}
	p := start(t, "memory", t.TempDir())
	for _, want := range []struct {
		what string
		mib  int
	}{{"one store with 1,000 files", 100}, {"20 stores with 1,000 files each", 600}} {
		kib, err := strconv.Atoi(p.line())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MiB resident", want.what, kib>>10)
		if kib>>10 >= want.mib {
			t.Errorf("%s: %d MiB resident, want less than %d", want.what, kib>>10, want.mib)
		}
	}
	p.end()
}
