package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Request is one line of input.
type Request struct {
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	All     *bool           `json:"all"`
	Options Options         `json:"options"`
}

// ParseRequest reads a line. Its error is one sentence that says what is wrong
// and what is allowed.
func ParseRequest(line []byte) (Request, error) {
	var req Request
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return Request{}, requestError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Request{}, errors.New("the line goes on after the request, write one JSON object a line")
	}
	switch {
	case req.Tool == "":
		return Request{}, errors.New("the request has no tool, write {\"tool\":…,\"input\":{…}}")
	case req.Input == nil:
		return Request{}, errors.New("the request has no input, write {\"tool\":…,\"input\":{…}}")
	case !utf8.Valid(line):
		return Request{}, errors.New("the line is not valid UTF-8")
	}
	return req, nil
}

func requestError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the line is blank, write one JSON object a line")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early, write one whole object a line")
	case errors.As(err, &syntax):
		return fmt.Errorf("the line is no JSON at byte %d: %s", syntax.Offset, syntax.Error())
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("a request is a JSON object, not %s", article(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%s cannot be %s", kind.Field, article(kind.Value))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %s, a request has tool, input, all and options (%s)", name, optionNames)
	}
	return err
}

// article puts an article before the name that package json has for a kind of
// value, which may be a number with its digits.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}
