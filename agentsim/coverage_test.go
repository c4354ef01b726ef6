package agentsim_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// The shipped goldens show every tool, every error code, every reason to
// escalate and every status of a step, and each scenario says what it is for.
func TestShippedScenariosCoverEverything(t *testing.T) {
	locs, err := agentsim.Find("", "../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, loc := range locs {
		sc, err := loc.Load()
		if err != nil {
			t.Fatal(err)
		}
		if sc.Description == "" {
			t.Errorf("%s has no description", loc.Name)
		}
		data, err := agentsim.ReadGolden(loc.Golden)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	var want []string
	for _, tool := range agenttool.All() {
		want = append(want, " "+tool.Name+" --\n")
	}
	for _, code := range codes.All() {
		want = append(want, "\nerror: "+string(code)+"\n")
	}
	for _, reason := range turn.Reasons() {
		want = append(want, "\nreason: "+string(reason)+"\n")
	}
	for _, status := range turn.Statuses() {
		want = append(want, "\nstatus: "+string(status)+"\n")
	}
	for _, w := range want {
		if !strings.Contains(all.String(), w) {
			t.Errorf("no golden shows %q", w)
		}
	}
}
