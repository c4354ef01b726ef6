package mcptool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineFilter passes on the lines of a client that are messages, and answers the
// others itself: to the SDK a line that it cannot read is the end of a session.
type lineFilter struct {
	in    io.Closer
	lines *bufio.Reader
	out   io.Writer
	rest  []byte // of the line that is being passed on
}

func newLineFilter(in io.ReadCloser, out io.Writer) *lineFilter {
	return &lineFilter{in: in, lines: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements io.Reader.
func (f *lineFilter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.next()
		if err != nil {
			return 0, err
		}
		f.rest = line
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (f *lineFilter) Close() error { return f.in.Close() }

// next returns the next line that is a message, with its line feed; nothing for
// one that was blank or answered here.
func (f *lineFilter) next() ([]byte, error) {
	line, whole, err := f.line()
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, f.refuse(requestID(line), jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message is larger than %d bytes, send less at a time", MaxMessage))
	}
	trimmed := bytes.TrimSpace(line)
	switch {
	case len(trimmed) == 0:
		return nil, nil
	case !json.Valid(trimmed):
		return nil, f.refuse(requestID(line), jsonrpc.CodeParseError, "the line is no JSON, send one message a line")
	case trimmed[0] == '[':
		return nil, f.refuse(nil, jsonrpc.CodeInvalidRequest, "the line is a list, send each message on a line of its own")
	}
	if _, err := jsonrpc.DecodeMessage(trimmed); err != nil {
		return nil, f.refuse(requestID(line), jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message")
	}
	return append(trimmed, '\n'), nil
}

// line reads a line. One over MaxMessage is read to its end, and gives its
// beginning and false.
func (f *lineFilter) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := f.lines.ReadSlice('\n')
		if whole && len(line)+len(part) > MaxMessage+1 {
			whole = false
			line = append(line, part...)[:min(len(line)+len(part), 64<<10)]
			line = bytes.Clone(line) // what is larger may go
		}
		if whole {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0: // the last line may lack its line feed
			return line, whole, nil
		default:
			return line, whole, err
		}
	}
}

func (f *lineFilter) refuse(id json.RawMessage, code int64, sentence string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	line, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}{JSONRPC: "2.0", ID: id, Error: struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}{code, sentence}})
	if err != nil {
		return err
	}
	_, err = f.out.Write(append(line, '\n'))
	return err
}

// requestID looks for the id of a request in a line of which perhaps only the
// beginning is there or can be read; nil if there is none.
func requestID(line []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil
		}
		if name == "id" && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			return value
		}
	}
	return nil
}
