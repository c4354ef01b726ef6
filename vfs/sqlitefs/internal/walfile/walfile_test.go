package walfile_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/walfile"
)

// database writes the three files of a database with pages of 512 bytes. salt is how
// this beginning of the log is called, in eight bytes. frames are
// the numbers of the pages in the log, of which so many are in the main file.
func database(t testing.TB, salt string, main []byte, frames []uint32, backfilled uint32) string {
	t.Helper()
	log := make([]byte, 32)
	binary.BigEndian.PutUint32(log[8:], 512)
	copy(log[16:], salt)
	for i, page := range frames {
		log = binary.BigEndian.AppendUint32(log, page)
		log = append(log, make([]byte, 20)...)
		log = append(log, pageOf(byte(i+1))...)
	}
	index := make([]byte, 136)
	binary.NativeEndian.PutUint32(index[16:], uint32(len(frames)))
	binary.NativeEndian.PutUint32(index[20:], 9) // pages
	copy(index[32:], salt)
	binary.NativeEndian.PutUint32(index[96:], backfilled)
	file := filepath.Join(t.TempDir(), "x.db")
	write(t, file, main)
	write(t, file+"-wal", log)
	write(t, file+"-shm", index)
	return file
}

func pageOf(b byte) []byte {
	page := make([]byte, 512)
	for i := range page {
		page[i] = b
	}
	return page
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func look(t testing.TB, file string, before walfile.State) (walfile.State, error) {
	t.Helper()
	files, err := walfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	return files.Look(before)
}

// TestLook: what a checkpoint copied is looked for in a main file that was changed.
func TestLook(t *testing.T) {
	for _, tt := range []struct {
		name       string
		frames     []uint32
		backfilled uint32
		main       []byte // when it is looked at again; its page n is at (n-1)*512
		sound      bool
	}{
		{"copied", []uint32{1, 2}, 2, append(pageOf(1), pageOf(2)...), true},
		{"not what was copied", []uint32{1, 2}, 2, append(pageOf(1), pageOf(9)...), false},
		{"cut", []uint32{1, 2}, 2, pageOf(1), false},
		{"the log goes on", []uint32{1, 2, 3}, 2, append(pageOf(1), pageOf(2)...), true},
		{"the log has the page again", []uint32{1, 2, 2}, 2, append(pageOf(1), pageOf(9)...), true},
		{"and the one before is not there", []uint32{1, 2, 2}, 2, append(pageOf(9), pageOf(9)...), false},
		{"the database has become smaller", []uint32{1, 10}, 2, pageOf(1), true},
		{"nothing was copied", []uint32{1, 2}, 0, pageOf(9), true}, // from an earlier log, of which nothing is left
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The look before was at another beginning of the log.
			before, err := look(t, database(t, "thefirst", []byte("before"), nil, 0), walfile.State{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = look(t, database(t, "thesalts", tt.main, tt.frames, tt.backfilled), before)
			if _, err := look(t, database(t, "thefirst", tt.main, nil, 0), before); err == nil {
				t.Error("a main file that no checkpoint has changed is not noticed")
			}
			if sound := err == nil; sound != tt.sound {
				t.Errorf("error %v, want none: %t", err, tt.sound)
			}
		})
	}
}

// A checkpoint that is under way, or was cut short, changes the main file before it
// says how far it got.
func TestLookDuringCheckpoint(t *testing.T) {
	before, err := look(t, database(t, "thesalts", []byte("before"), []uint32{1, 2}, 0), walfile.State{})
	if err != nil {
		t.Fatal(err)
	}
	file := database(t, "thesalts", pageOf(1), []uint32{1, 2}, 0)
	index, err := os.ReadFile(file + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	for attempted, sound := range map[uint32]bool{0: false, 2: true} {
		binary.NativeEndian.PutUint32(index[128:], attempted)
		write(t, file+"-shm", index)
		if _, err := look(t, file, before); (err == nil) != sound {
			t.Errorf("%d frames attempted: %v", attempted, err)
		}
	}
}

// FuzzLook: whatever the files hold, a look ends with a state or an error.
func FuzzLook(f *testing.F) {
	file := database(f, "thesalts", pageOf(1), []uint32{1, 1, 7}, 2)
	log, err := os.ReadFile(file + "-wal")
	if err != nil {
		f.Fatal(err)
	}
	index, err := os.ReadFile(file + "-shm")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pageOf(1), log, index)
	f.Add([]byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, main, log, index []byte) {
		before, err := look(t, file, walfile.State{})
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "y.db")
		write(t, other, main)
		write(t, other+"-wal", log)
		write(t, other+"-shm", index)
		look(t, other, before)
	})
}
