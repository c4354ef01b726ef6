package remotefs_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// rawConn is one side of a connection without this package's manners, and without
// its code: what it writes and reads is the protocol as others have it.
type rawConn struct{ net.Conn }

// raw connects and says hello as version 1 of the protocol has it.
func raw(t *testing.T, addr string) rawConn {
	t.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(addr, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := rawConn{conn}
	c.send(t, 1, "goliathfs", 1, "")
	return c
}

// encode makes a frame of numbers, texts and files.
func encode(values ...any) []byte {
	b := make([]byte, 4)
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = binary.AppendUvarint(b, uint64(v))
		case uint64:
			b = binary.AppendUvarint(b, v)
		case int64:
			b = binary.AppendVarint(b, v)
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		case vfs.Info:
			b = append(b, encode(v.Path, string(v.Revision), v.Size)[4:]...)
			if v.ModTime.IsZero() {
				b = append(b, 0)
			} else {
				b = append(b, encode(1, v.ModTime.Unix(), v.ModTime.Nanosecond())[4:]...)
			}
		case vfs.File:
			b = append(b, encode(v.Info, v.Content)[4:]...)
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// send writes a frame.
func (c rawConn) send(t *testing.T, values ...any) {
	t.Helper()
	if _, err := c.Write(encode(values...)); err != nil {
		t.Fatal(err)
	}
}

// receive reads a frame.
func (c rawConn) receive() (*values, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head))
	_, err := io.ReadFull(c, b)
	return &values{b}, err
}

// values takes the values out of a frame that the test knows.
type values struct{ b []byte }

func (v *values) uint() uint64 {
	n, size := binary.Uvarint(v.b)
	v.b = v.b[size:]
	return n
}

func (v *values) int() int64 {
	n, size := binary.Varint(v.b)
	v.b = v.b[size:]
	return n
}

func (v *values) text() string {
	n := v.uint()
	s := string(v.b[:n])
	v.b = v.b[n:]
	return s
}

func (v *values) info() vfs.Info {
	info := vfs.Info{Path: v.text(), Revision: vfs.Revision(v.text()), Size: v.int()}
	if v.uint() == 1 {
		info.ModTime = time.Unix(v.int(), int64(v.uint()))
	}
	return info
}

// answer is a result, in the order of its values.
type answer struct {
	id         uint64
	code, text string
	file       vfs.File
	page       vfs.Page
	prefix     string
	writable   int
}

func (v *values) answer() answer {
	a := answer{id: v.uint(), code: v.text(), text: v.text(), file: vfs.File{Info: v.info()}}
	a.file.Content = v.text()
	for range v.uint() {
		a.page.Files = append(a.page.Files, v.info())
	}
	a.page.Next = v.text()
	a.prefix, a.writable = v.text(), int(v.uint())
	return a
}

// frame makes a result.
func (a answer) frame() []byte {
	all := []any{5, a.id, a.code, a.text, a.file, len(a.page.Files)}
	for _, info := range a.page.Files {
		all = append(all, info)
	}
	return encode(append(all, a.page.Next, a.prefix, a.writable)...)
}
