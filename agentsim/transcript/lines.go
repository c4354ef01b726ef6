package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine is the greatest length of a line that is read, in bytes.
const maxLine = 8 << 20

// eachLine passes every line that is not blank, with its number. A line that is
// too long is damaged.
func eachLine(in io.Reader, c *collector, fn func(line []byte, number int)) error {
	br := bufio.NewReaderSize(in, HeadSize)
	for number := 1; ; number++ {
		line, whole, err := readLine(br)
		if len(line) > 0 && !whole {
			c.damage(number, fmt.Sprintf("the line is longer than %d bytes", maxLine))
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			fn(line, number)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine returns a line; one that is too long is read to its end, and only its
// beginning returned.
func readLine(br *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			whole = false
		}
		if whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// eachJSONLine passes every line as a value of type T; one that is none is
// damaged.
func eachJSONLine[T any](in io.Reader, c *collector, fn func(v T, number int)) error {
	return eachLine(in, c, func(line []byte, number int) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			c.damage(number, "the line is not as this format has it: "+jsonProblem(err))
			return
		}
		fn(v, number)
	})
}

func jsonProblem(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return "it is no JSON"
	case errors.As(err, &kind) && kind.Field == "":
		return "it is a " + kind.Value
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is a %s", kind.Field, kind.Value)
	}
	return err.Error()
}
