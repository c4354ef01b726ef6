// Package simtest replays scenarios as Go tests: one parallel subtest a
// scenario, in the test binary that an application has anyway. It is for people
// who want goldens checked by go test and in no other way.
//
// It has no flag of its own, which would clash with other golden libraries: the
// environment variable SIMTEST_UPDATE, read as a boolean, writes the goldens
// anew. A test that wrote one fails, so that an update is noticed; under CI it is
// refused. Where GitHub Actions reads the log, nothing that files and models say
// is taken for a command of its.
package simtest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/report"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// UpdateEnv is the variable that has goldens written.
const UpdateEnv = "SIMTEST_UPDATE"

// Options adjust Run; nil or the zero value is the default.
type Options struct {
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore agentsim.NewStore
	// NewAgent makes what the application's own agent brings along: its functions,
	// hooks, tokenizer and memory; nil means nothing.
	NewAgent agentsim.NewAgent
	// Tokenizer and Tokenizers are those of agentsim.ReplayOptions.
	Tokenizer  string
	Tokenizers agentsim.Tokenizers
	// Kinds are the kinds of scenarios beside calls and turns.
	Kinds []agentsim.Kind
}

// Run replays the scenarios at or below the path and compares them with the
// goldens in the directory golden, each in a parallel subtest that has its name.
func Run(t *testing.T, scenarios, golden string, opts *Options) {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	runner := &agentsim.Runner{
		Paths: []string{scenarios}, Golden: golden, NewStore: opts.NewStore, NewAgent: opts.NewAgent, Kinds: opts.Kinds,
		Tokenizer: opts.Tokenizer, Tokenizers: opts.Tokenizers,
		Update: update(t), CI: agentsim.InCI(os.Getenv),
	}
	if runner.Update && runner.CI {
		t.Fatal(agentsim.ErrUpdateInCI)
	}
	selected, err := runner.List()
	if err != nil {
		t.Fatal(err)
	}
	orphans, err := runner.Orphans()
	if err != nil {
		t.Fatal(err)
	}
	for _, loc := range orphans {
		t.Error(safe(fmt.Sprintf("the golden %s has no scenario, remove it or bring back %s", loc.Golden, loc.Path)))
	}
	for _, loc := range selected {
		t.Run(loc.Name, func(t *testing.T) {
			t.Parallel()
			switch res := runner.RunOne(t.Context(), loc); res.Status {
			case agentsim.Skipped:
				t.Skip(safe(res.Err.Error()))
			case agentsim.Updated:
				t.Error(safe(fmt.Sprintf("wrote %s: review it and run again without %s", loc.Golden, UpdateEnv)))
			case agentsim.Failed:
				t.Error(safe(agentsim.Explain(res)))
			case agentsim.Differs:
				t.Error(safe(fmt.Sprintf("%sTo write the golden anew, set %s=true for one run, then look at what changed.", agentsim.Explain(res), UpdateEnv)))
			}
		})
	}
}

// safe is text for the log of a test.
func safe(text string) string {
	text = visible.Inert(text)
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		return "\n" + report.Guard(text)
	}
	return text
}

// update reads UpdateEnv.
func update(t *testing.T) bool {
	t.Helper()
	value := os.Getenv(UpdateEnv)
	if value == "" {
		return false
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		t.Fatalf("%s is %q, set it to true or false", UpdateEnv, value)
	}
	return on
}
