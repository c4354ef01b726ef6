package histories_test

import (
	"testing"
	"time"
)

// TestManyWritersOfPostgres plays histories in which many clients of four programs
// change few files without a pause, so that their changes are made together and meet
// those of others.
func TestManyWritersOfPostgres(t *testing.T) {
	t.Parallel()
	play(t, 2, load{clients: 32, steps: 15, paths: 10, hasty: 30, watchers: 8, pace: time.Microsecond}, func(t *testing.T) world {
		return world{client: each(programs(t, freshNamespace(t, postgres(t)), 4))}
	})
}
