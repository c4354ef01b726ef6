package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Member is one member of a JSON object, its value as it was written.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members returns the members of an object in their order. Two with one name are
// an error, where encoding/json takes the last; names are as they were written,
// where encoding/json takes Name for name. What follows the object is not looked
// at.
func Members(object []byte) ([]Member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return nil, fmt.Errorf("an object belongs where %.40q stands", object)
	}
	var all []Member
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
		m := Member{Name: name}
		if err := dec.Decode(&m.Value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	_, err := dec.Token()
	return all, err
}
