package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// values is the store of memories of one replay, which runs one turn at a time.
type values struct{ byKey map[string]string }

var _ memory.Store = (*values)(nil)

// Get implements memory.Store.
func (v *values) Get(_ context.Context, key string) (string, bool, error) {
	value, ok := v.byKey[key]
	return value, ok, nil
}

// Set implements memory.Store.
func (v *values) Set(_ context.Context, key, value string) error {
	v.byKey[key] = value
	return nil
}

// defaultKey is the key of the default conversation, as memory.KeyValues has it.
const defaultKey = "null"

// newValues returns the memories that a scenario starts from. The default
// conversation stands under "".
func newValues(specs map[string]remembered) (*values, error) {
	v := &values{map[string]string{}}
	for _, id := range slices.Sorted(maps.Keys(specs)) { // so that the same error comes each time
		spec := specs[id]
		key := defaultKey
		if id != "" {
			if err := memory.CheckID(id); err != nil {
				return nil, spec.Pos.Errorf("memory: %v", err)
			}
			key = quoteJSON(id)
		}
		if spec.Raw != nil {
			v.byKey[key] = *spec.Raw
			continue
		}
		state := memory.State{Summary: spec.Summary, Recent: []memory.Exchange{}}
		for _, e := range spec.Recent {
			at := replay.Epoch()
			if e.At != "" {
				var err error
				if at, err = time.Parse(time.RFC3339, e.At); err != nil {
					return nil, spec.Pos.Errorf("memory: at is %q, write a time such as 2026-01-01T09:00:00Z", e.At)
				}
			}
			state.Recent = append(state.Recent, memory.Exchange{Ask: e.Ask, Answer: e.Answer, At: at, Steps: e.Steps})
		}
		data, err := json.Marshal(state)
		if err != nil {
			return nil, err
		}
		v.byKey[key] = string(data)
	}
	return v, nil
}

func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer takes it
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// addTo adds every stored value to the transcript, indented where it is JSON.
func (v *values) addTo(t *golden.Transcript) {
	for _, key := range slices.Sorted(maps.Keys(v.byKey)) {
		name, text := fmt.Sprintf("memory %+q", key), v.byKey[key]
		var id string
		if key == defaultKey {
			name = "memory of the default conversation"
		} else if json.Unmarshal([]byte(key), &id) == nil {
			name = fmt.Sprintf("memory of %+q", id)
		}
		var b bytes.Buffer
		if json.Indent(&b, []byte(text), "", "  ") == nil {
			text = b.String() + "\n"
		}
		t.Add(name, text)
	}
}
