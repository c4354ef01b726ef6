package agenttool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/jsontext"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// args are the decoded arguments of a call: string, bool or int by name. Null
// and absent are the same.
type args map[string]any

// parseArgs decodes strictly, because a model that sent something odd should
// hear of it: names match exactly, none is unknown or given twice, types are as
// the schema says.
func parseArgs(s spec, input json.RawMessage) (args, error) {
	if err := checkText(input); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, refuse(codes.InvalidArgument, "the arguments of %s must be one JSON object with the names %s", s.name, s.paramNames())
	}
	a, seen := args{}, map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, malformed(s, err)
		}
		name, _ := tok.(string)
		p, known := s.param(name)
		if !known {
			return nil, refuse(codes.InvalidArgument, "%s has no argument %s, use %s", s.name, quoted(name), s.paramNames())
		}
		if seen[name] {
			return nil, refuse(codes.InvalidArgument, "the argument %q is given twice, give it once", name)
		}
		seen[name] = true
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, malformed(s, err)
		}
		if v, err = p.value(v); err != nil {
			return nil, err
		}
		if v == "" && name == cursorName {
			return nil, refuse(codes.InvalidCursor, "the cursor is empty, pass nextCursor back exactly as it was given or leave it out for the first page")
		}
		if v != nil {
			a[name] = v
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, malformed(s, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, refuse(codes.InvalidArgument, "the arguments of %s must be one JSON object and nothing after it", s.name)
	}
	for _, p := range s.params {
		if _, given := a[p.name]; p.required && !given {
			return nil, refuse(codes.InvalidArgument, "%s needs the argument %q", s.name, p.name)
		}
	}
	return a, nil
}

func malformed(s spec, err error) error {
	why := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		why = "they end too early"
	}
	return &Error{codes.InvalidArgument, fmt.Sprintf("the arguments of %s are not valid JSON, send one object: %s", s.name, why), err}
}

func (s spec) param(name string) (param, bool) {
	for _, p := range s.params {
		if p.name == name {
			return p, true
		}
	}
	return param{}, false
}

// value checks a decoded value against the type of the parameter.
func (p param) value(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if p.kind == "string" {
			return v, nil
		}
	case bool:
		if p.kind == "boolean" {
			return v, nil
		}
	case json.Number:
		if p.kind == "integer" {
			return p.whole(v)
		}
	}
	article := "a"
	if p.kind == "integer" {
		article = "an"
	}
	return nil, refuse(codes.InvalidArgument, "the argument %q must be %s %s", p.name, article, p.kind)
}

// maxWhole is the greatest whole number that every JSON reader keeps exact.
const maxWhole = 1<<53 - 1

// whole accepts every spelling of a whole number, such as 2.0 or 1e3.
func (p param) whole(n json.Number) (any, error) {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil && i >= -maxWhole && i <= maxWhole {
		return toInt(i), nil
	}
	f, err := n.Float64()
	if err == nil && f == math.Trunc(f) && math.Abs(f) <= maxWhole {
		return toInt(int64(f)), nil
	}
	return nil, refuse(codes.InvalidArgument, "the argument %q must be a whole number of at most %d", p.name, int64(maxWhole))
}

// toInt takes the nearest number where an int has 32 bits: as an offset it is
// beyond every file all the same.
func toInt(i int64) int { return int(max(math.MinInt, min(i, math.MaxInt))) }

func (a args) str(name string) string { s, _ := a[name].(string); return s }

// flag returns a boolean, or what it is when it is not given.
func (a args) flag(name string, absent bool) bool {
	if b, given := a[name].(bool); given {
		return b
	}
	return absent
}

func (a args) integer(name string) (n int, given bool) { n, given = a[name].(int); return n, given }

func (a args) revision() (rev vfs.Revision, given bool) {
	s, given := a["revision"].(string)
	return vfs.Revision(s), given
}

// checkText refuses what a JSON decoder would quietly turn into U+FFFD: bytes
// that are not UTF-8, and half of a surrogate pair.
func checkText(input []byte) error {
	if !utf8.Valid(input) {
		return refuse(codes.InvalidArgument, "the arguments are not valid UTF-8, send them as UTF-8 text")
	}
	if at, _ := jsontext.HalfPair(input); at >= 0 {
		return refuse(codes.InvalidArgument, "the arguments hold half of a surrogate pair, send whole characters")
	}
	return nil
}
