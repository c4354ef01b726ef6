package gramindex

import (
	"errors"
	"io"
)

// Part is where one segment of an index is kept. It is written once, from the
// beginning to the end, then read, by many goroutines at a time.
type Part interface {
	io.Writer
	io.ReaderAt
	// Size returns how many bytes it has.
	Size() (int64, error)
	// Close ends its use. What is kept of it is the affair of Parts.
	Close() error
}

// NewMemoryPart returns a part that vanishes with the process.
func NewMemoryPart() Part { return &memoryPart{} }

type memoryPart struct{ data []byte }

func (m *memoryPart) Write(p []byte) (int, error) {
	m.data = append(m.data, p...)
	return len(p), nil
}

func (m *memoryPart) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at > int64(len(m.data)) {
		return 0, errors.New("outside the part")
	}
	n := copy(p, m.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memoryPart) Size() (int64, error) { return int64(len(m.data)), nil }
func (m *memoryPart) Close() error         { return nil }
