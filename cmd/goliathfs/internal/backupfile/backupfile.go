// Package backupfile is the format of the backups of stores that have none of
// their own: one JSON object a line, a header, a line for each file, and a last
// line with the number of files and a checksum of everything before it. It can
// be read with any JSON tool, and a part that was cut off or altered shows.
//
// SQLite databases are backed up as databases instead.
package backupfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

const (
	formatName    = "goliathfs-backup"
	formatVersion = 1
)

// Header is the first line.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Store   string    `json:"store"`   // the URL that was backed up
	Created time.Time `json:"created"` // UTC
}

// Record is one file.
type Record struct {
	Namespace string // "" where the store has none
	File      vfs.File
}

// line is any line behind the first.
type line struct {
	Namespace string       `json:"namespace,omitempty"`
	Path      string       `json:"path,omitempty"`
	Revision  vfs.Revision `json:"revision,omitempty"`
	ModTime   time.Time    `json:"modTime,omitzero"`
	Content   *string      `json:"content,omitempty"`

	// Of the last line alone.
	Files  *int   `json:"files,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of all bytes before it, in hex
}

// Writer writes a backup. It is for one goroutine.
type Writer struct {
	w     *bufio.Writer
	sum   hash.Hash
	enc   *json.Encoder
	files int
}

// NewWriter begins a backup of the store that a URL names.
func NewWriter(w io.Writer, store string, now time.Time) (*Writer, error) {
	bw := &Writer{w: bufio.NewWriterSize(w, 256<<10), sum: sha256.New()}
	bw.enc = json.NewEncoder(io.MultiWriter(bw.w, bw.sum))
	bw.enc.SetEscapeHTML(false)
	return bw, bw.enc.Encode(Header{formatName, formatVersion, store, now.UTC()})
}

// Add writes one file.
func (w *Writer) Add(r Record) error {
	w.files++
	if y := r.File.ModTime.UTC().Year(); y < 0 || y > 9999 {
		r.File.ModTime = time.Time{} // JSON has no such year
	}
	return w.enc.Encode(line{
		Namespace: r.Namespace,
		Path:      r.File.Path,
		Revision:  r.File.Revision,
		ModTime:   r.File.ModTime,
		Content:   &r.File.Content,
	})
}

// Finish writes the last line. Without it the backup counts as cut off.
func (w *Writer) Finish() error {
	if err := w.enc.Encode(line{Files: &w.files, SHA256: hex.EncodeToString(w.sum.Sum(nil))}); err != nil {
		return err
	}
	return w.w.Flush()
}

// maxLine bounds a line in bytes: a file of 1 MiB, each byte of it escaped.
const maxLine = 8 << 20

// ErrFormat is matched by the errors of what is no backup, or not all of one.
var ErrFormat = errors.New("this is no whole backup of goliathfs")

// Read yields the files of a backup and ends after the first error, which it
// yields. That the backup is whole is known only when it has ended without one.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for found, err := range scan(r) {
			if !yield(found.Record, err) {
				return
			}
		}
	}
}

// located is a file and where its line is.
type located struct {
	Record
	at   int64  // of the first byte
	text []byte // without its end; valid until the next one
}

// scan is Read that tells where the files are.
func scan(r io.Reader) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		var begin, end int64 // of the line
		lines.Split(func(data []byte, atEnd bool) (int, []byte, error) {
			n, text, err := bufio.ScanLines(data, atEnd)
			begin, end = end, end+int64(n)
			return n, text, err
		})
		sum, files, ended := sha256.New(), 0, false
		fail := func(format string, args ...any) {
			yield(located{}, fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...))
		}
		if !lines.Scan() || !isHeader(lines.Bytes()) {
			fail("its first line does not say so, name a file that goliathfs backup wrote, unpacked")
			return
		}
		addLine(sum, lines.Bytes())
		for n := 2; lines.Scan(); n++ {
			if ended {
				fail("line %d follows the last one", n)
				return
			}
			l, err := parseLine(lines.Bytes())
			switch {
			case err != nil:
				fail("line %d: %v", n, err)
				return
			case l.Files != nil:
				if *l.Files != files || l.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
					fail("it was altered, its checksum does not match")
					return
				}
				ended = true
				continue
			}
			addLine(sum, lines.Bytes())
			files++
			if !yield(located{l.record(), begin, lines.Bytes()}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			fail("%v", err)
		} else if !ended {
			fail("its end is missing, it has %d files", files)
		}
	}
}

func addLine(sum hash.Hash, text []byte) {
	sum.Write(text)
	sum.Write([]byte("\n"))
}

func isHeader(text []byte) bool {
	var h Header
	return json.Unmarshal(text, &h) == nil && h.Format == formatName && h.Version == formatVersion
}

func parseLine(text []byte) (line, error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return l, err
	}
	if l.Files == nil && (l.Path == "" || l.Content == nil) {
		return l, errors.New("it is neither a file nor the end")
	}
	return l, nil
}

func (l line) record() Record {
	info := vfs.Info{Path: l.Path, Revision: l.Revision, Size: int64(len(*l.Content)), ModTime: l.ModTime}
	return Record{Namespace: l.Namespace, File: vfs.File{Info: info, Content: *l.Content}}
}
