package walfile_test

import (
	"os"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/walfile"
)

// TestStamp: a header is believed when both copies of it say the same.
func TestStamp(t *testing.T) {
	file := database(t, "saltsalt", pageOf(1), nil, 0)
	index, err := os.ReadFile(file + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	files, err := walfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	stamp := func(edit func(index []byte) []byte) (walfile.Stamp, bool) {
		write(t, file+"-shm", edit(append([]byte(nil), index...)))
		return files.Stamp()
	}
	copied := func(index []byte) []byte {
		index[12] = 1 // in use
		copy(index[48:], index[:48])
		return index
	}
	first, ok := stamp(copied)
	if !ok {
		t.Error("a whole header is not believed")
	}
	if again, ok := stamp(func(index []byte) []byte {
		index = copied(index)
		index[96] = 7 // a checkpoint
		return index
	}); !ok || again != first {
		t.Errorf("after a checkpoint: %x, %v, want %x", again, ok, first)
	}
	if second, ok := stamp(func(index []byte) []byte {
		index[8] = 1 // one change more
		return copied(index)
	}); !ok || second == first {
		t.Errorf("after a commit: %x, %v", second, ok)
	}
	for name, edit := range map[string]func([]byte) []byte{
		"in the middle of a commit": func(index []byte) []byte { index = copied(index); index[48+8] = 1; return index },
		"not in use":                func(index []byte) []byte { return index },
		"cut":                       func(index []byte) []byte { return copied(index)[:95] },
	} {
		if _, ok := stamp(edit); ok {
			t.Errorf("%s: it is believed", name)
		}
	}
}
