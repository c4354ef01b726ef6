package agentsim_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// BenchmarkScenarios loads, replays and compares all shipped scenarios, on as
// many goroutines as a Runner would use.
func BenchmarkScenarios(b *testing.B) {
	runner := &agentsim.Runner{Paths: []string{"../scenarios"}}
	total := 0
	for b.Loop() {
		sum, err := runner.Run(b.Context())
		if err != nil || !sum.OK() {
			b.Fatal(sum, err)
		}
		total += sum.Total
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "scenarios/s")
}

// BenchmarkScenario replays one small scenario of two tool steps, already
// loaded, on one goroutine.
func BenchmarkScenario(b *testing.B) {
	sc, err := agentsim.Load("../scenarios/approvals/yes-lets-the-edit-happen.txtar")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agentsim.Replay(b.Context(), sc, nil); err != nil {
			b.Fatal(err)
		}
	}
}
