package memory

import (
	"context"
	"strconv"
	"sync"
)

// InProcess is a Memory that lives as long as the process. The zero value is
// empty and ready.
type InProcess struct {
	mu    sync.Mutex
	state State
	saves int
}

var _ Memory = (*InProcess)(nil)

// Load implements Memory.
func (m *InProcess) Load(ctx context.Context) (Loaded, error) {
	if err := ctx.Err(); err != nil {
		return Loaded{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return Loaded{State: m.state.Clone(), Version: m.version()}, nil
}

// Save implements Memory.
func (m *InProcess) Save(ctx context.Context, s State, on Version) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if on != m.version() {
		return ErrConflict
	}
	m.state = s.Clone()
	m.saves++
	return nil
}

func (m *InProcess) version() Version {
	if m.saves == 0 {
		return ""
	}
	return Version(strconv.Itoa(m.saves))
}
