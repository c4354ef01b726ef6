package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that flat arguments need: the types of the
// properties, which are required, and whether others are allowed.
type schema struct {
	properties map[string]types
	names      []string // of properties, in order
	required   []string
	closed     bool // additionalProperties: false
	reply      json.RawMessage
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
	s := schema{properties: map[string]types{}}
	if len(raw) == 0 {
		return s, nil
	}
	var doc struct {
		Type       string
		Properties json.RawMessage
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Type != "object" {
		return s, errors.New(`its schema must be a JSON Schema with "type": "object"`)
	}
	s.required, s.closed = doc.Required, doc.Additional != nil && !*doc.Additional
	var properties map[string]struct{ Type types }
	if len(doc.Properties) > 0 {
		if err := json.Unmarshal(doc.Properties, &properties); err != nil {
			return s, fmt.Errorf("the properties of its schema cannot be read: %w", err)
		}
	}
	if _, ok := properties["missing"]; ok {
		return s, errors.New(`its schema has a property "missing", in which models name what they do not know: rename it`)
	}
	for name, p := range properties {
		s.properties[name] = p.Type
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

// check returns the object of arguments without missing, and what is missing;
// an error when it is no object of the schema.
func (s *schema) check(input json.RawMessage) (args map[string]json.RawMessage, missing []string, err error) {
	if json.Unmarshal(input, &args) != nil || args == nil {
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
	for name, value := range args {
		want, known := s.properties[name]
		if !known && s.closed {
			return nil, nil, fmt.Errorf("there is no argument %q, only %s", name, strings.Join(s.names, ", "))
		}
		got := kind(value)
		if known && got == "null" && !slices.Contains(s.required, name) {
			continue
		}
		if known && len(want) > 0 && !slices.Contains(want, got) && !(got == "integer" && slices.Contains(want, "number")) {
			return nil, nil, fmt.Errorf("the argument %q must be of type %s, not %s", name, strings.Join(want, " or "), got)
		}
	}
	for _, name := range s.required {
		if _, ok := args[name]; !ok {
			return nil, nil, fmt.Errorf("the argument %q is required", name)
		}
	}
	return args, nil, nil
}

// kind is the JSON type of a valid value.
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
	if bytes.ContainsAny(value, ".eE") {
		return "number"
	}
	return "integer"
}

// withoutMissing drops the property missing and keeps the order of the others.
func withoutMissing(input json.RawMessage) json.RawMessage {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil || args["missing"] == nil {
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
		var value any
		compact := args[name]
		if json.Unmarshal(args[name], &value) == nil {
			if c, err := json.Marshal(value); err == nil {
				compact = c
			}
		}
		fmt.Fprintf(&b, "%s:%s,", jsonText(name), compact)
	}
	return b.String()
}
