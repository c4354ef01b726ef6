package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// eachElement passes the values at some paths of JSON documents, one after the
// other, without holding the documents. A path is names with dots between, and *
// for the elements of a list, as in "messages.*". Where a document is broken, what
// comes after is damaged.
func eachElement(in io.Reader, c *collector, paths []string, fn func(path string, value json.RawMessage, line int)) error {
	lines := &lineCounter{in: in, line: 1}
	w := &walker{dec: json.NewDecoder(lines), lines: lines, paths: paths, fn: fn}
	for {
		err := w.value("", 0)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case lines.err != nil && !errors.Is(lines.err, io.EOF):
			return lines.err
		case err != nil:
			c.damage(lines.at(w.dec.InputOffset()), "the rest cannot be read: "+jsonProblem(err))
			return nil
		}
	}
}

type walker struct {
	dec   *json.Decoder
	lines *lineCounter
	paths []string
	fn    func(path string, value json.RawMessage, line int)
}

// value walks through the value that comes next, which is at path. It goes no deeper
// than the paths that are wanted.
func (w *walker) value(path string, depth int) error {
	take, descend := w.wants(path)
	if take {
		var raw json.RawMessage
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
		w.fn(path, raw, w.lines.at(w.dec.InputOffset()-int64(len(raw))))
		return nil
	}
	tok, err := w.dec.Token()
	if err != nil {
		if depth > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	switch {
	case tok == json.Delim('{') && descend:
		return w.object(path, depth)
	case tok == json.Delim('[') && descend:
		for w.dec.More() {
			if err := w.value(below(path, "*"), depth+1); err != nil {
				return err
			}
		}
		return w.end()
	case tok == json.Delim('{'), tok == json.Delim('['):
		return w.skip()
	}
	return nil
}

func (w *walker) object(path string, depth int) error {
	for w.dec.More() {
		name, err := w.dec.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		if err := w.value(below(path, text), depth+1); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) end() error {
	_, err := w.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// skip reads to the end of an object or list that has been begun.
func (w *walker) skip() error {
	for open := 1; open > 0; {
		tok, err := w.dec.Token()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return nil
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (w *walker) wants(path string) (take, descend bool) {
	for _, p := range w.paths {
		if p == path {
			return true, false
		}
		if path == "" || strings.HasPrefix(p, path+".") {
			descend = true
		}
	}
	return false, descend
}

// lineCounter tells the line of an offset. Offsets must be asked for in order.
type lineCounter struct {
	in    io.Reader
	read  int64   // bytes read so far
	ends  []int64 // offsets of line feeds that are ahead of the last question
	line  int     // at the last question
	err   error
	taken int // of ends
}

// Read implements io.Reader.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for at := 0; ; at++ {
		next := bytes.IndexByte(p[at:n], '\n')
		if next < 0 {
			break
		}
		at += next
		l.ends = append(l.ends, l.read+int64(at))
	}
	l.read += int64(n)
	l.err = err
	return n, err
}

// at returns the line of an offset, one-based.
func (l *lineCounter) at(offset int64) int {
	for l.taken < len(l.ends) && l.ends[l.taken] < offset {
		l.taken++
		l.line++
	}
	if l.taken > 4096 {
		l.ends = append(l.ends[:0], l.ends[l.taken:]...)
		l.taken = 0
	}
	return l.line
}
