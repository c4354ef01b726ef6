package remotefs

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// The limits of one frame, in bytes. A peer that has not said hello yet gets to
// send little.
const (
	maxFrame = 32 << 20
	maxHello = 4 << 10
)

// headLen is how many bytes of a frame say how long it is.
const headLen = 4

// frameLen returns how long the frame of this head is, without the head.
func frameLen(head []byte) int64 { return int64(binary.BigEndian.Uint32(head)) }

// readFrame reads one frame: its length in 4 bytes, most significant first, and
// that many bytes. Memory is taken as bytes arrive, not as the length promises.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [headLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := frameLen(head[:])
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

// frames reads the frames of a connection. Between them it waits for ever, but one
// that has begun must be there within patience.
type frames struct {
	conn     net.Conn
	r        *bufio.Reader
	patience time.Duration
}

func newFrames(conn net.Conn, patience time.Duration) *frames {
	return &frames{conn, bufio.NewReaderSize(conn, readBuffer), patience}
}

// readBuffer is how much is read ahead, in bytes.
const readBuffer = 64 << 10

// next returns the next frame. Before it takes memory for one of more than
// readBuffer bytes it asks for room, which may wait as long as patience; nil room
// is had at once.
func (f *frames) next(ctx context.Context, room func(ctx context.Context, bytes int) error) ([]byte, error) {
	if _, err := f.r.Peek(1); err != nil {
		return nil, err
	}
	if f.isHere() {
		return readFrame(f.r, maxFrame)
	}
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	if err := f.conn.SetReadDeadline(time.Now().Add(f.patience)); err != nil {
		return nil, err
	}
	head, err := f.r.Peek(headLen)
	if err != nil {
		return nil, err
	}
	if n := frameLen(head); n > readBuffer && n <= maxFrame && room != nil {
		if err := room(ctx, int(n)); err != nil {
			return nil, err
		}
	}
	b, err := readFrame(f.r, maxFrame)
	if err != nil {
		return nil, err
	}
	return b, f.conn.SetReadDeadline(time.Time{})
}

// isHere reports whether the next frame has been read ahead as a whole, as most
// have.
func (f *frames) isHere() bool {
	have := f.r.Buffered()
	if have < headLen {
		return false
	}
	head, err := f.r.Peek(headLen)
	return err == nil && int64(have-headLen) >= frameLen(head)
}

// message is what can be put in a frame.
type message interface {
	encode(*encoder)
	weight() int // bytes of the content it carries, to make room at once
}

// frame puts the length before a message. It fails when that is more than
// maxFrame.
func frame(m message) ([]byte, error) {
	e := encoder{b: make([]byte, headLen, 256+m.weight())}
	m.encode(&e)
	n := len(e.b) - headLen
	if n > maxFrame {
		return nil, tooLong(int64(n))
	}
	binary.BigEndian.PutUint32(e.b, uint32(n))
	return e.b, nil
}

func tooLong(bytes int64) error {
	return fmt.Errorf("%w: %d bytes where at most %d fit in one message", errFrameSize, bytes, maxFrame)
}
