package badgerfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// partFile is a part of a search index in a file of its own. It is read with
// ReadAt: a file that is cut under a mapping would end the process.
type partFile struct {
	f      *os.File
	st     *store // of a file that is being written
	size   int64
	synced bool
}

func createPart(st *store, path string) (*partFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &partFile{f: f, st: st}, nil
}

// openPart opens a file that has size bytes.
func openPart(path string, size int64) (*partFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("%s has %d bytes instead of %d", path, info.Size(), size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &partFile{f: f, size: size, synced: true}, nil
}

// Write implements io.Writer. It leaves the store the room that it needs.
func (p *partFile) Write(b []byte) (int, error) {
	if err := p.st.room(int64(len(b))); err != nil {
		return 0, err
	}
	n, err := p.f.Write(b)
	p.size += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (p *partFile) ReadAt(b []byte, at int64) (int, error) { return p.f.ReadAt(b, at) }

// Size implements gramindex.Part.
func (p *partFile) Size() (int64, error) { return p.size, nil }

// Close implements gramindex.Part.
func (p *partFile) Close() error { return p.f.Close() }

// sync makes what was written durable, once.
func (p *partFile) sync() error {
	if p.synced {
		return nil
	}
	p.synced = true
	return p.f.Sync()
}

// partNumber returns the number in the name of a part.
func partNumber(name string) int {
	_, digits, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), partExt), "-")
	n, _ := strconv.Atoi(digits)
	return n
}
