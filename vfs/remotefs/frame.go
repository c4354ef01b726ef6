package remotefs

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The limits of one frame, in bytes. A peer that has not said hello yet gets to
// send little.
const (
	maxFrame = 32 << 20
	maxHello = 4 << 10
)

// readFrame reads one frame: its length in 4 bytes, most significant first, and
// that many bytes. Memory is taken as bytes arrive, not as the length promises.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > int64(limit) {
		return nil, fmt.Errorf("%w: a frame of %d bytes where at most %d are allowed", errProtocol, n, limit)
	}
	const chunk = 64 << 10
	body := make([]byte, 0, min(n, chunk))
	for int64(len(body)) < n {
		have := len(body)
		grow := int(min(n-int64(have), max(chunk, int64(have))))
		body = append(body, make([]byte, grow)...)
		if _, err := io.ReadFull(r, body[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return body, nil
}

// message is what can be put in a frame.
type message interface {
	encode(*encoder)
	weight() int // bytes of the content it carries, to make room at once
}

// frame puts the length before a message. It fails when that is more than
// maxFrame.
func frame(m message) ([]byte, error) {
	e := encoder{b: make([]byte, 4, 256+m.weight())}
	m.encode(&e)
	n := len(e.b) - 4
	if n > maxFrame {
		return nil, fmt.Errorf("%w: %d bytes where at most %d fit in one message", errFrameSize, n, maxFrame)
	}
	binary.BigEndian.PutUint32(e.b, uint32(n))
	return e.b, nil
}
