// Package sleep waits between two tries of something.
package sleep

import (
	"context"
	"time"
)

// For waits and reports whether ctx still goes on. It returns at once when that ends.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
