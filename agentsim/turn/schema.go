package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of JSON Schema that flat arguments need: the types and the
// allowed values of the properties, which are required, and whether others are
// allowed. What else a schema says is for the model, and for the tool to check.
type schema struct {
	properties map[string]property
	names      []string // of properties, in order
	required   []string
	closed     bool // additionalProperties: false
	reply      json.RawMessage
}

// property is what a value must be; each field that is empty allows all.
type property struct {
	Type types
	Enum []any
}

// types are the JSON types that a property may have.
type types []string

// UnmarshalJSON takes "string" as well as ["string", "null"].
func (t *types) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func parseSchema(raw json.RawMessage) (schema, error) {
	s := schema{properties: map[string]property{}}
	if len(raw) == 0 {
		return s, nil
	}
	var doc struct {
		Type       string
		Properties json.RawMessage
		Required   []string
		Additional json.RawMessage `json:"additionalProperties"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Type != "object" {
		return s, errors.New(`its schema must be a JSON Schema with "type": "object"`)
	}
	s.required, s.closed = doc.Required, string(doc.Additional) == "false"
	if len(doc.Properties) > 0 {
		if err := json.Unmarshal(doc.Properties, &s.properties); err != nil {
			return s, fmt.Errorf("the properties of its schema cannot be read: %w", err)
		}
	}
	if _, ok := s.properties["missing"]; ok {
		return s, errors.New(`its schema has a property "missing", in which models name what they do not know: rename it`)
	}
	s.names = keys(doc.Properties)
	for _, name := range s.required {
		if _, ok := s.properties[name]; !ok {
			return s, fmt.Errorf("its schema requires %q, which is not among the properties", name)
		}
	}
	s.reply = replySchema(doc.Properties)
	return s, nil
}

// keys returns the names of an object in their order.
func keys(object json.RawMessage) []string {
	var names []string
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return names
		}
		if s, ok := name.(string); ok {
			names = append(names, s)
		}
	}
	return names
}

// replySchema is what a model is given: the properties, and missing to name
// what it was not told. Nothing is required, or it would have to invent.
func replySchema(properties json.RawMessage) json.RawMessage {
	inner := strings.TrimSpace(string(properties))
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, "{"), "}")
	if strings.TrimSpace(inner) != "" {
		inner += ","
	}
	return json.RawMessage(`{"type":"object","properties":{` + inner +
		`"missing":{"type":"array","items":{"type":"string"},"description":"Names of required values that are not known."}}}`)
}

// objectOf returns the values of a JSON object, nil if it is none.
func objectOf(input json.RawMessage) map[string]json.RawMessage {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return nil
	}
	return args
}

// check returns the object of arguments without missing, and what is missing;
// an error when it is no object of the schema.
func (s *schema) check(input json.RawMessage) (args map[string]json.RawMessage, missing []string, err error) {
	if args = objectOf(input); args == nil {
		return nil, nil, errors.New("the arguments are no JSON object")
	}
	if raw, ok := args["missing"]; ok {
		if json.Unmarshal(raw, &missing) != nil {
			return nil, nil, errors.New("missing must be a list of names")
		}
		delete(args, "missing")
	}
	if len(missing) > 0 {
		return args, missing, nil
	}
	for _, name := range slices.Sorted(maps.Keys(args)) { // so that the same error comes each time
		want, known := s.properties[name]
		if !known && s.closed {
			return nil, nil, fmt.Errorf("there is no argument %q, only %s", name, strings.Join(s.names, ", "))
		}
		if kind(args[name]) == "null" && !slices.Contains(s.required, name) {
			continue // as good as absent
		}
		if err := want.check(args[name]); err != nil {
			return nil, nil, fmt.Errorf("the argument %q must be %w", name, err)
		}
	}
	for _, name := range s.required {
		if _, ok := args[name]; !ok {
			return nil, nil, fmt.Errorf("the argument %q is required", name)
		}
	}
	return args, nil, nil
}

// check returns an error that says what the value must be.
func (p property) check(value json.RawMessage) error {
	got := kind(value)
	if len(p.Type) > 0 && !slices.Contains(p.Type, got) && !(got == "integer" && slices.Contains(p.Type, "number")) {
		return fmt.Errorf("of type %s, not %s", strings.Join(p.Type, " or "), got)
	}
	if len(p.Enum) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return fmt.Errorf("valid JSON: %w", err)
	}
	for _, allowed := range p.Enum {
		if reflect.DeepEqual(v, allowed) {
			return nil
		}
	}
	return fmt.Errorf("one of %v", p.Enum)
}

// kind is the JSON type of a valid value. A number without a fraction is an
// integer however it is written.
func kind(value json.RawMessage) string {
	switch c := bytes.TrimSpace(value)[0]; c {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if f, err := strconv.ParseFloat(string(bytes.TrimSpace(value)), 64); err != nil || f != math.Trunc(f) {
		return "number"
	}
	return "integer"
}

// withoutMissing drops the property missing and keeps the order of the others.
func withoutMissing(input json.RawMessage) json.RawMessage {
	args := objectOf(input)
	if args["missing"] == nil {
		return input
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range keys(input) {
		if name == "missing" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(jsonText(name))
		b.WriteByte(':')
		b.Write(args[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// jsonText is a JSON string without the escapes that only HTML needs.
func jsonText(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer takes it
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// canonical is a form of arguments in which the order of names and absent
// optional values do not matter.
func canonical(args map[string]json.RawMessage) string {
	var b strings.Builder
	names := make([]string, 0, len(args))
	for name, value := range args {
		if kind(value) != "null" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s:%s,", jsonText(name), canonicalValue(args[name]))
	}
	return b.String()
}

// canonicalValue keeps every digit of a whole number: two identifiers beyond
// what a float64 holds exactly are two calls.
func canonicalValue(raw json.RawMessage) json.RawMessage {
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return raw
	}
	compact, err := json.Marshal(canonicalNumbers(value))
	if err != nil {
		return raw
	}
	return compact
}

// canonicalNumbers gives numbers that are written differently one form.
func canonicalNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = canonicalNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = canonicalNumbers(v[i])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			return f
		}
	}
	return value
}
