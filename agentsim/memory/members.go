package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is one member of a JSON object, its value as it was written.
type member struct {
	name  string
	value json.RawMessage
}

// decode fills v from the value, and says which member is wrong.
func (m member) decode(v any) error {
	if err := json.Unmarshal(m.value, v); err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	return nil
}

// members returns the members of a valid JSON object in their order. It is here
// because encoding/json takes the last of two members with one name, and takes
// Summary for summary, without a word.
func members(raw []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return nil, fmt.Errorf("an object belongs where %.40q stands", raw)
	}
	var all []member
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder takes nothing else for a name
		if seen[name] {
			return nil, fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		m := member{name: name}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// withMembers returns the JSON object with more members after its own.
func withMembers(object json.RawMessage, more []member) json.RawMessage {
	if len(more) == 0 {
		return object
	}
	b := bytes.NewBuffer(bytes.Clone(object[:len(object)-1]))
	for _, m := range more {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := compact(m.name) // a text always encodes
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
