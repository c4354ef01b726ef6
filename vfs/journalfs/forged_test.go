package journalfs_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// forge puts the head of a record at a place of a journal, as long as it says, with right
// checksums of a second part that is zeros alone.
func forge(t *testing.T, name string, at int64, kind byte, meta string, body int) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	salt := make([]byte, 16)
	if _, err := f.ReadAt(salt, int64(len("goliathfs journal\n")+2)); err != nil {
		t.Fatal(err)
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	zeros := make([]byte, 1<<20)
	for left := body; left > 0; left -= len(zeros) {
		sum = crc32.Update(sum, castagnoli, zeros[:min(left, len(zeros))])
	}
	var h []byte
	h = binary.LittleEndian.AppendUint32(h, uint32(kind)|uint32(len(meta))<<8)
	h = binary.LittleEndian.AppendUint32(h, uint32(body))
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum([]byte(meta), castagnoli))
	h = binary.LittleEndian.AppendUint32(h, sum)
	seed := binary.LittleEndian.AppendUint64(salt, uint64(at))
	h = binary.LittleEndian.AppendUint32(h, crc32.Update(crc32.Checksum(seed, castagnoli), castagnoli, h))
	if _, err := f.WriteAt(append(h, meta...), at); err != nil {
		t.Fatal(err)
	}
	end := at + int64(len(h)+len(meta)+body)
	if err := f.Truncate(end); err != nil {
		t.Skip("no such files here: ", err)
	}
	if _, err := f.WriteAt([]byte("\n"), end); err != nil {
		t.Fatal(err)
	}
}

// A record that says it is long, in a file that has that length
// and holds next to nothing, takes no such memory, whoever reads it.
func TestForgedLength(t *testing.T) {
	const long = 128 << 20
	name := filepath.Join(t.TempDir(), "journal")
	tables := map[string]struct {
		kind byte
		meta string
	}{
		"a write":      {1, "\x01"},
		"padding":      {16, ""},
		"a table":      {17, ""},
		"a checkpoint": {18, "\x00\x80\x01\x02\x80\x01\x02\x02\x02"}, // whose table is at byte 64
	}
	for what, record := range tables {
		t.Run(what, func(t *testing.T) {
			j := open(t, name, nil)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			at := int64(4096) // where checkpoints begin
			if record.kind != 18 {
				at = 64
			}
			forge(t, name, at, record.kind, record.meta, long)
			defer os.Remove(name)
			h := history(t, name)
			defer h.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found := 0
			if _, err := h.Check(t.Context(), func(error) { found++ }); err != nil {
				t.Error(err)
			}
			_, err := h.At(t.Context(), journalfs.Moment{})
			for _, logErr := range h.Log(t.Context(), "/") {
				err = errors.Join(err, logErr)
			}
			if w, openErr := journalfs.Open(name, nil); openErr == nil {
				err = errors.Join(err, w.Close())
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
				t.Errorf("reading %d bytes that are not there took %d bytes of memory (%v, %d problems)", long, took, err, found)
			}
		})
	}
}
