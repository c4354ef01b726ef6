package turn

import (
	"encoding/json"
	"slices"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// Handler says who answered.
type Handler string

// The handlers.
const (
	Device Handler = "device" // the agent's own model
	Cloud  Handler = "cloud"  // the fallback
	Nobody Handler = "nobody" // the model failed and there is no fallback, so Answer is empty
)

// Handlers returns every handler.
func Handlers() []Handler { return []Handler{Device, Cloud, Nobody} }

// Reason says why a turn was escalated.
type Reason string

// The reasons.
const (
	ReasonConductorAsked   Reason = "conductor-asked"    // the model planned to
	ReasonPlanInvalid      Reason = "plan-invalid"       // two plans that were none
	ReasonToolArgsInvalid  Reason = "tool-args-invalid"  // arguments that are not of the tool's schema
	ReasonToolError        Reason = "tool-error"         // two tool errors in a row
	ReasonRepeatedToolCall Reason = "repeated-tool-call" // the same call again, to no purpose
	ReasonTooManySteps     Reason = "too-many-steps"
	ReasonEmptyAnswer      Reason = "empty-answer"   // also after a nudge
	ReasonContextBudget    Reason = "context-budget" // a prompt that does not fit
	ReasonModelError       Reason = "model-error"
	// ReasonSession: the conversation is in session fallback after three turns in
	// a row that ended in model-error, so the device model was not asked.
	ReasonSession Reason = "session-fallback"
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonConductorAsked, ReasonPlanInvalid, ReasonToolArgsInvalid, ReasonToolError, ReasonRepeatedToolCall,
		ReasonTooManySteps, ReasonEmptyAnswer, ReasonContextBudget, ReasonModelError, ReasonSession,
	}
}

// deviceFailed reports whether the device model is not to be called again in
// this turn, not even as the scribe.
func (r Reason) deviceFailed() bool {
	return r == ReasonModelError || r == ReasonContextBudget || r == ReasonSession
}

// Status says what became of a step.
type Status string

// The statuses.
const (
	StatusOK       Status = "ok"
	StatusError    Status = "error"    // the tool refused or failed
	StatusCached   Status = "cached"   // served from an earlier equal read
	StatusDeclined Status = "declined" // not approved, or denied by a hook
	StatusSkipped  Status = "skipped"  // a value for its arguments was missing
)

// Statuses returns every status.
func Statuses() []Status {
	return []Status{StatusOK, StatusError, StatusCached, StatusDeclined, StatusSkipped}
}

// Step is one tool call of a turn.
type Step struct {
	Tool   string
	Brief  string          // what the model wanted from it
	Input  json.RawMessage // nil when it was skipped before it had arguments
	Status Status
	Code   codes.Code       // of an error, or not-approved
	Text   string           // what the model sees
	Tokens int              // of Text
	Limit  int              // of Tokens, for a file tool that ran; 0 for others
	Output agenttool.Output // structured, of a file tool that succeeded
	writes bool
}

// content reports whether the step's text is an excerpt of files.
func (s *Step) content() bool {
	return s.Limit > 0 && (s.Status == StatusOK || s.Status == StatusCached)
}

// Outcome is a turn that ended.
type Outcome struct {
	Answer    string
	HandledBy Handler
	// Reason is why it was escalated, "" if it was not.
	Reason Reason
	// Err is what went wrong in detail; nil where Reason says all.
	Err error
	// BestEffort: there was no fallback, so Answer was put together from the steps.
	BestEffort bool
	// Refused: the model's guardrail ended the turn; Answer is empty.
	Refused bool
	Steps   []Step
}

func (o *Outcome) clone() *Outcome {
	if o == nil {
		return nil
	}
	c := *o
	c.Steps = cloneSteps(o.Steps)
	return &c
}

func cloneSteps(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Input = slices.Clone(steps[i].Input)
		if out := steps[i].Output; out != nil {
			steps[i].Output = out.Clone()
		}
	}
	return steps
}
