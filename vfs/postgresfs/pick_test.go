package postgresfs_test

import (
	"os"
	"testing"
)

// pick returns how much a test does: little with -short, as much as the figures in
// the documentation say with GOLIATHFS_FULL set in the environment.
func pick[T any](short, usual, full T) T {
	switch {
	case testing.Short():
		return short
	case os.Getenv("GOLIATHFS_FULL") != "":
		return full
	default:
		return usual
	}
}
