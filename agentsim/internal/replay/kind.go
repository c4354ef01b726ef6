// Package replay is what a scenario of any kind is replayed in: its stores with
// their seeds, its clock, its tools, the names of revisions and cursors, and the
// transcript that it fills. What happens there is the script of the scenario,
// which its Kind brings along.
package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// Kind makes the empty scripts of one kind of scenario, to be filled from
// scenario.yaml.
type Kind func() Script

// Script is what happens in one scenario. It is not changed by Run, so that one
// can be run many times and at the same time.
type Script interface {
	scenario.Part
	// Run plays the scenario and adds to w.Transcript what is shown, also of the
	// step that fails. An error means that the scenario did not run as it says; it
	// is made by StepError where a step can be named. One that matches ErrSkipped
	// means that it cannot be replayed here, and says why.
	Run(ctx context.Context, w *World) error
}

// ErrSkipped is matched by the error of a script that cannot be replayed here.
var ErrSkipped = errors.New("not replayed")

// Failure is the error of one step.
type Failure struct {
	Step string // as the transcript names it
	Err  error
}

// Error returns step and cause.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Step, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// StepError names the step that failed and, unless the error says where it is
// already, its place.
func StepError(step string, pos strictyaml.Pos, err error) error {
	return pos.At(&Failure{step, err})
}
