// Package testsize says how much a test does. It is for tests alone.
package testsize

import (
	"os"
	"testing"
)

// Pick returns how much a test does: little with -short, as much as the figures in the
// documentation say with GOLIATHFS_FULL set in the environment.
func Pick[T any](short, usual, full T) T {
	switch {
	case testing.Short():
		return short
	case os.Getenv("GOLIATHFS_FULL") != "":
		return full
	default:
		return usual
	}
}
