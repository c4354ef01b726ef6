package simtest_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/simtest"
)

// The scenarios that ship are the tests of the rules they are named for.
func TestScenarios(t *testing.T) {
	simtest.Run(t, "../../scenarios", "../../golden", nil)
}
