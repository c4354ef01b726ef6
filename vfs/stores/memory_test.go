package stores_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// Fifty savers race for one conversation on disk: every success is built on the
// state before it, and the others get a conflict that they retry.
func TestRacingMemories(t *testing.T) {
	const savers = 50
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			factory, err := memory.Files(open(t, kind, t.TempDir(), options{Relaxed: true}), &memory.FilesOptions{AgentRoots: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i := range savers {
				wg.Go(func() {
					m, err := factory(t.Context(), "work", false)
					for saved := false; err == nil && !saved; {
						var l memory.Loaded
						if l, err = m.Load(t.Context()); err != nil {
							break
						}
						l.State.Summary += fmt.Sprintf("[%d]", i)
						err = m.Save(t.Context(), l.State, l.Version)
						saved = err == nil
						if errors.Is(err, memory.ErrConflict) {
							err = nil
						}
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			m, err := factory(t.Context(), "work", false)
			if err != nil {
				t.Fatal(err)
			}
			l, err := m.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range savers {
				if n := strings.Count(l.State.Summary, fmt.Sprintf("[%d]", i)); n != 1 {
					t.Errorf("saver %d is there %d times", i, n)
				}
			}
		})
	}
}
