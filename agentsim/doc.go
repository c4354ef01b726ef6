// Package agentsim replays scenarios: small files that script what a model says
// and pin down what it was shown. It is for people who build agents on virtual
// files and want their pages, budgets, approvals, memory and answers proven in
// continuous integration, without a model and without a network.
//
// # Scenarios
//
// A scenario is a txtar archive, scenarios/<area>/<name>.txtar. Its comment is
// the description, scenario.yaml says what happens (see Load), and files/...
// seed the agent's store. It holds either calls, which run tools directly, or
// turns, which run the engine of package turn with a scripted model.
//
// # Goldens
//
// What a replay showed is its Transcript; Transcript.Golden renders it, and
// golden/<area>/<name>.txtar keeps it under version control. Revisions, times
// and cursors are deterministic and appear as <rev:1> and <cursor:1>, numbered
// as they were first seen, so a golden has the same bytes on every machine and
// over every store.
//
// # Running
//
//	runner := &agentsim.Runner{Paths: []string{"scenarios"}, Reporter: r}
//	summary, err := runner.Run(ctx)
//
// A Runner finds, replays in parallel, compares or updates, and reports. The
// pieces are exported for other harnesses: Find, Load, Replay, Compare. Package
// simtest runs the same as Go subtests.
//
// The package opens no database itself: a replay over another store is given a
// NewStore function. It never runs a model; package turn does that for real
// agents too.
package agentsim
