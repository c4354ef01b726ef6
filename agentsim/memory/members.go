package memory

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

// member is one member of a stored object, its value as it was written.
type member = jsontext.Member

// decodeMember fills v from the value, and says which member is wrong.
func decodeMember(m member, v any) error {
	if err := json.Unmarshal(m.Value, v); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
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
		name, _ := compact(m.Name) // a text always encodes
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
