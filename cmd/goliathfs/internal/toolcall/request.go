package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Request is one line of input.
type Request struct {
	Tool    string
	Input   json.RawMessage // nil is no input; a null stays the text null
	All     *bool
	Options Options
}

// ParseRequest reads a line. Its error is one sentence that says what is wrong
// and what is allowed. Names must be spelled exactly, which package json alone
// does not ask for.
func ParseRequest(line []byte) (Request, error) {
	var req Request
	err := object("a request", line, fields{
		"tool":  &req.Tool,
		"input": &req.Input,
		"all":   &req.All,
		"options": fields{
			"root":         &req.Options.Root,
			"tokenizer":    &req.Options.Tokenizer,
			"maxTokens":    &req.Options.MaxTokens,
			"defaultLines": &req.Options.DefaultLines,
			"maxLines":     &req.Options.MaxLines,
			"maxMatches":   &req.Options.MaxMatches,
			"maxFiles":     &req.Options.MaxFiles,
		},
	})
	switch {
	case err != nil:
		return Request{}, err
	case req.Tool == "":
		return Request{}, errors.New("the request has no tool, write {\"tool\":…,\"input\":{…}}")
	case req.Input == nil:
		return Request{}, errors.New("the request has no input, write {\"tool\":…,\"input\":{…}}")
	case !utf8.Valid(line):
		return Request{}, errors.New("the line is not valid UTF-8")
	}
	return req, nil
}

// fields are the names that an object can have and where their values go: a
// pointer, or the fields of an object inside, which may be null.
type fields map[string]any

// object reads a JSON object into fields; what is its name in messages.
func object(what string, text []byte, into fields) error {
	values := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&values); err != nil {
		return jsonError(what, err)
	}
	if values == nil {
		return fmt.Errorf("%s is a JSON object, not null", what)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line goes on after the request, write one JSON object a line")
	}
	if name := repeated(text); name != "" {
		return fmt.Errorf("%s has the field %q twice, give it once", what, name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // so that the same error comes each time
		value := values[name]
		target, known := into[name]
		if !known {
			return fmt.Errorf("unknown field %q, %s has %s", name, what, strings.Join(slices.Sorted(maps.Keys(into)), ", "))
		}
		var err error
		if inner, ok := target.(fields); !ok {
			err = json.Unmarshal(value, target)
		} else if string(value) != "null" {
			err = object(name, value, inner)
			if err != nil {
				return err
			}
		}
		if err != nil {
			return jsonError(name, err)
		}
	}
	return nil
}

// repeated returns a name that a sound JSON object has twice, of which package
// json would take the last; "" if there is none. It looks one level deep.
func repeated(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return ""
		}
		if seen[name] {
			return name
		}
		seen[name] = true
		if err := dec.Decode(new(json.RawMessage)); err != nil {
			return ""
		}
	}
	return ""
}

func jsonError(what string, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the line is blank, write one JSON object a line")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON ends too early, write one whole object a line")
	case errors.As(err, &syntax):
		return fmt.Errorf("the line is no JSON at byte %d: %s", syntax.Offset, syntax.Error())
	case errors.As(err, &kind):
		return fmt.Errorf("%s must be %s, not %s", what, kindName(kind.Type), kind.Value)
	}
	return err
}

// kindName is what a Go type is called in JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map:
		return "an object"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	}
	return "a string"
}
