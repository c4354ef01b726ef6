package blackbox_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/simtest"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

func TestScenarios(t *testing.T) {
	agent := goAgent{protocol: wire.Chat, ask: "Fix the typo, please."}
	simtest.Run(t, "testdata/scenarios", "testdata/golden", &simtest.Options{Kinds: []agentsim.Kind{blackbox.Kind(&blackbox.Options{Agent: agent.run})}})
}
