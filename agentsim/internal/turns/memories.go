package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// values is the store of memories of one replay, which runs one turn at a time.
type values map[string]string

var _ memory.Store = values(nil)

// Get implements memory.Store.
func (v values) Get(_ context.Context, key string) (string, bool, error) {
	value, ok := v[key]
	return value, ok, nil
}

// Set implements memory.Store.
func (v values) Set(_ context.Context, key, value string) error {
	v[key] = value
	return nil
}

// memories are what is remembered in one replay: values by key, or what the
// application's own adapter holds.
type memories struct {
	factory memory.Factory
	values  values // nil with the application's own

	opened map[string]memory.Memory // since the agent was made; "" is the default conversation
}

// newMemories returns the memories that a scenario starts from. The factory is
// the application's, nil for values.
func newMemories(ctx context.Context, factory memory.Factory, specs map[string]remembered) (*memories, error) {
	m := &memories{factory: factory, opened: map[string]memory.Memory{}}
	if factory == nil {
		m.values = values{}
		m.factory = memory.KeyValues(m.values, "")
	}
	return m, m.change(ctx, specs)
}

// open is the agent's memory.Factory. A memory is made once until restart, so
// that the replay looks into the one that the agent has.
func (m *memories) open(ctx context.Context, id string, isDefault bool) (memory.Memory, error) {
	if opened, ok := m.opened[id]; ok {
		return opened, nil
	}
	made, err := m.factory(ctx, id, isDefault)
	if err == nil && made != nil {
		m.opened[id] = made
	}
	return made, err
}

func (m *memories) restart() { clear(m.opened) }

// load returns what is remembered of a conversation.
func (m *memories) load(ctx context.Context, id string) (memory.Loaded, error) {
	opened, err := m.open(ctx, id, id == "")
	if err != nil {
		return memory.Loaded{}, err
	}
	if opened == nil {
		return memory.Loaded{}, errors.New("the application's MemoryFor made no memory")
	}
	return opened.Load(ctx)
}

// change sets what is remembered.
func (m *memories) change(ctx context.Context, specs map[string]remembered) error {
	for _, id := range slices.Sorted(maps.Keys(specs)) { // so that the same error comes each time
		spec := specs[id]
		if err := m.set(ctx, id, spec); err != nil {
			return spec.Pos.At(fmt.Errorf("memory: %w", err))
		}
	}
	return nil
}

func (m *memories) set(ctx context.Context, id string, spec remembered) error {
	key := defaultKey
	if id != "" {
		if err := memory.CheckID(id); err != nil {
			return err
		}
		key = quoteJSON(id)
	}
	if m.values == nil && (spec.Raw != nil || spec.word == absent) {
		return errors.New("raw and absent are for the built-in memory, and this is the application's own: write summary and recent")
	}
	switch {
	case spec.Raw != nil:
		m.values[key] = *spec.Raw
		return nil
	case spec.word == absent:
		delete(m.values, key)
		return nil
	}
	state, err := spec.state()
	if err != nil {
		return err
	}
	if m.values != nil {
		data, err := json.Marshal(state)
		m.values[key] = string(data)
		return err
	}
	loaded, err := m.load(ctx, id)
	if err != nil {
		return err
	}
	return m.opened[id].Save(ctx, state, loaded.Version)
}

// defaultKey is the key of the default conversation, as memory.KeyValues has it.
const defaultKey = "null"

func quoteJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer takes it
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// addTo adds what is remembered to the transcript: every stored value, indented
// where it is JSON, or what the application's own says of each conversation.
func (m *memories) addTo(ctx context.Context, t *golden.Transcript) error {
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		name := fmt.Sprintf("memory %+q", key)
		var id string
		if key == defaultKey {
			name = memoryName("")
		} else if json.Unmarshal([]byte(key), &id) == nil {
			name = memoryName(id)
		}
		t.Add(name, indented(m.values[key]))
	}
	if m.values != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(m.opened)) {
		loaded, err := m.load(ctx, id)
		if err != nil {
			return fmt.Errorf("the %s cannot be shown: %w", memoryName(id), err)
		}
		data, err := json.Marshal(loaded.State)
		if err != nil {
			return err
		}
		t.Add(memoryName(id), indented(string(data)))
	}
	return nil
}

func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String() + "\n"
}
