package memory

import (
	"context"
	"fmt"
	"sync"
)

// Store is any store of texts by key. It must be safe for concurrent use.
type Store interface {
	// Get returns the value, and whether there is one.
	Get(ctx context.Context, key string) (value string, ok bool, err error)
	Set(ctx context.Context, key, value string) error
}

// Swapper is implemented by a Store that can check and set in one step. With
// one, savers in several processes cannot lose a state; without, those that
// share a *KeyValue cannot.
type Swapper interface {
	// Swap sets the value if the stored one is old, or absent when exists is
	// false, and reports whether it did.
	Swap(ctx context.Context, key, old string, exists bool, value string) (bool, error)
}

// KeyValue is a Memory that is one JSON text under a key.
type KeyValue struct {
	store Store
	key   string
	mu    sync.Mutex // held over a check and the set that follows
}

var _ Memory = (*KeyValue)(nil)

// NewKeyValue returns the memory under a key of a store.
func NewKeyValue(store Store, key string) *KeyValue { return &KeyValue{store: store, key: key} }

// KeyValues returns a Factory of memories in one store. A conversation's key is
// prefix and the conversation's id as a JSON string, or null for the default
// one, so no two share a key.
func KeyValues(store Store, prefix string) Factory {
	return func(_ context.Context, id string, isDefault bool) (Memory, error) {
		if err := checkKey(id, isDefault); err != nil {
			return nil, err
		}
		var name any
		if !isDefault {
			name = id
		}
		key, err := compact(name)
		if err != nil {
			return nil, err
		}
		return NewKeyValue(store, prefix+string(key)), nil
	}
}

// Load implements Memory.
func (m *KeyValue) Load(ctx context.Context) (Loaded, error) {
	raw, ok, err := m.store.Get(ctx, m.key)
	if err != nil {
		return Loaded{}, fmt.Errorf("the memory %s cannot be loaded: %w", m.key, err)
	}
	return loadedOf(raw, ok), nil
}

// loadedOf reads a value, or the lack of one.
func loadedOf(raw string, ok bool) Loaded {
	l := Loaded{State: State{}.Clone(), Version: versionOf(raw, ok)}
	if !ok {
		return l
	}
	var s document
	if s, l.Damaged = decode(raw, false); l.Damaged == nil {
		l.State = s.State.Clone()
	}
	return l
}

func versionOf(raw string, ok bool) Version {
	if !ok {
		return ""
	}
	return Version(digest(raw))
}

// Save implements Memory. Members of the value that are not known here stay. A
// damaged value is kept under its key with
// ".damaged-" and eight hex digits of its hash after it.
func (m *KeyValue) Save(ctx context.Context, s State, on Version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	raw, ok, err := m.store.Get(ctx, m.key)
	if err != nil {
		return fmt.Errorf("the memory %s cannot be loaded before it is saved: %w", m.key, err)
	}
	if versionOf(raw, ok) != on {
		return fmt.Errorf("the memory %s was not saved: %w", m.key, ErrConflict)
	}
	var old document
	if ok {
		old, err = decode(raw, false)
	}
	if err != nil {
		if err := m.store.Set(ctx, m.key+damagedSuffix(raw), raw); err != nil {
			return fmt.Errorf("the damaged memory %s cannot be kept aside, so it is not overwritten: %w", m.key, err)
		}
	}
	value, err := old.after(s).encode(false)
	if err != nil {
		return err
	}
	if err := m.set(ctx, raw, ok, value); err != nil {
		return fmt.Errorf("the memory %s was not saved: %w", m.key, err)
	}
	return nil
}

func (m *KeyValue) set(ctx context.Context, old string, exists bool, value string) error {
	swapper, ok := m.store.(Swapper)
	if !ok {
		return m.store.Set(ctx, m.key, value)
	}
	done, err := swapper.Swap(ctx, m.key, old, exists, value)
	if err == nil && !done {
		err = ErrConflict
	}
	return err
}

// damagedSuffix is what the name of a damaged value gets. It follows from the value, so
// that two damaged values never replace each other.
func damagedSuffix(raw string) string { return ".damaged-" + digest(raw)[:8] }
