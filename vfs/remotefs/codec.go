package remotefs

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// encoder appends values in a form of their own: integers as varints, strings
// with their length before them.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) bool(v bool) {
	if v {
		e.uint(1)
	} else {
		e.uint(0)
	}
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// time keeps the moment to the nanosecond, and the zero time as such.
func (e *encoder) time(t time.Time) {
	e.bool(!t.IsZero())
	if !t.IsZero() {
		e.int(t.Unix())
		e.uint(uint64(t.Nanosecond()))
	}
}

func (e *encoder) info(i vfs.Info) {
	e.string(i.Path)
	e.string(string(i.Revision))
	e.int(i.Size)
	e.time(i.ModTime)
}

func (e *encoder) file(f vfs.File) {
	e.info(f.Info)
	e.string(f.Content)
}

// decoder takes values off a frame. The first fault is kept, and every value
// after it is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errProtocol, what)
	}
	d.b = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("a number is cut off or too large")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("a number is cut off or too large")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bool() bool {
	v := d.uint()
	if v > 1 {
		d.fail("a flag is neither 0 nor 1")
	}
	return v == 1
}

func (d *decoder) string() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail("a text is longer than its frame")
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) time() time.Time {
	if !d.bool() {
		return time.Time{}
	}
	sec, nsec := d.int(), d.uint()
	const last = 1 << 40 // seconds, far beyond any calendar in use
	if nsec >= 1e9 || sec < -last || sec > last {
		d.fail("a time is out of range")
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec))
}

func (d *decoder) info() vfs.Info {
	return vfs.Info{Path: d.string(), Revision: vfs.Revision(d.string()), Size: d.int(), ModTime: d.time()}
}

func (d *decoder) file() vfs.File { return vfs.File{Info: d.info(), Content: d.string()} }

// end reports the first fault; bytes that are left over are one.
func (d *decoder) end() error {
	if len(d.b) > 0 {
		d.fail("bytes are left over")
	}
	return d.err
}

// paths are those of a batch.
func (d *decoder) paths() []string {
	n := d.uint()
	if n > batchread.MaxFiles {
		d.fail("a batch asks for more files than any may have")
		return nil
	}
	var paths []string
	for range n {
		paths = append(paths, d.string())
	}
	return paths
}
