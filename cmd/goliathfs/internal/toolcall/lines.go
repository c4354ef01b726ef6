package toolcall

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// MaxLine is the greatest length of a request, in bytes: several files of
// 1 MiB in their escaped form.
const MaxLine = 32 << 20

// Response is one line of output.
type Response struct {
	OK    bool     `json:"ok"`
	Error *Failure `json:"error,omitempty"`
	Pages []Page   `json:"pages"` // with an error: those before it
}

// Lines answers each line of in with one line on out, in order, each flushed
// before the next is read, until in ends. A line that is no request gets an
// error and the rest goes on. It returns only errors of the streams and of ctx;
// after ctx has ended, a read of in may still be under way.
func (r *Runner) Lines(ctx context.Context, in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 64<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	reading, stop := context.WithCancel(ctx)
	defer stop()
	lines := make(chan inputLine)
	go readLines(reading, in, lines)
	for {
		var line inputLine
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line = <-lines:
		}
		if errors.Is(line.err, io.EOF) {
			return nil
		}
		if line.err != nil && !errors.Is(line.err, errTooLong) {
			return fmt.Errorf("cannot read requests: %w", line.err)
		}
		if err := enc.Encode(r.answer(ctx, line)); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (r *Runner) answer(ctx context.Context, line inputLine) Response {
	resp := Response{Pages: []Page{}}
	err := line.err
	var req Request
	if err == nil {
		req, err = ParseRequest(line.text)
	}
	if err != nil {
		resp.Error = &Failure{Code: codes.InvalidArgument, Message: err.Error()}
		return resp
	}
	err = r.Run(ctx, req, func(p Page) error {
		resp.Pages = append(resp.Pages, p)
		return nil
	})
	if err != nil {
		resp.Error = FailureOf(err)
		return resp
	}
	resp.OK = true
	return resp
}

// inputLine is a line without its line feed, or why there is none.
type inputLine struct {
	text []byte
	err  error
}

var errTooLong = fmt.Errorf("the line is longer than %d bytes, split the request", MaxLine)

// readLines sends every line of in, then an error, until ctx ends.
func readLines(ctx context.Context, in io.Reader, lines chan<- inputLine) {
	br := bufio.NewReaderSize(in, 64<<10)
	for first := true; ; first = false {
		text, err := readLine(br)
		if first { // some editors begin a file with it
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		select {
		case <-ctx.Done():
			return
		case lines <- inputLine{text, err}:
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine returns the next line. One over MaxLine is read to its end and
// dropped, and gives errTooLong.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := br.ReadSlice('\n')
		if !tooLong && len(line)+len(part) > MaxLine+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || tooLong):
			err = nil // the last line may lack its line feed
		case err != nil:
			return nil, err
		}
		if tooLong {
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}
