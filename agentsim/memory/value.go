package memory

import (
	"encoding/json"
	"strings"
)

// ValueEntry returns the conversation that KeyValues keeps under a key, for looking
// at memories from outside. Its Path is the key. ok is false for a key that is not
// prefix with a conversation's name behind it.
func ValueEntry(key, value, prefix string) (e Entry, ok bool) {
	name, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return Entry{}, false
	}
	e = Entry{Path: key}
	if e.ID, e.IsDefault, ok = parseKeyName(name); !ok {
		return Entry{}, false
	}
	e.Loaded = loadedOf(value, true)
	return e, true
}

// FindValue is ValueEntry for a key whose prefix is not known, and reports ok only
// where key and value together can hardly be anything else: the key ends in the name
// of a conversation, and the value is a state that can be read.
func FindValue(key, value string) (e Entry, prefix string, ok bool) {
	for at := range len(key) {
		if key[at] != '"' && key[at:] != "null" {
			continue
		}
		if e, ok := ValueEntry(key, value, key[:at]); ok {
			return e, key[:at], e.Damaged == nil
		}
	}
	return Entry{}, "", false
}

// parseKeyName reads what KeyValues puts behind its prefix.
func parseKeyName(name string) (id string, isDefault, ok bool) {
	if name == "null" {
		return "", true, true
	}
	if !strings.HasPrefix(name, `"`) || json.Unmarshal([]byte(name), &id) != nil || CheckID(id) != nil {
		return "", false, false
	}
	again, err := compact(id)
	return id, false, err == nil && string(again) == name
}
