package turn

import (
	"context"
	"encoding/json"
	"strings"
)

// Stage is the question that a model is asked.
type Stage string

// The stages.
const (
	StagePlan      Stage = "plan"      // the next step, as JSON
	StageArguments Stage = "arguments" // of the planned tool, as JSON
	StageAnswer    Stage = "answer"    // to the person, as text
	StageScribe    Stage = "scribe"    // the new summary, as text
)

// Model answers one request at a time. Reply must honour ctx and be safe for
// concurrent use, because conversations run side by side. An error that is no
// *ModelError counts as a provider error.
type Model interface {
	Reply(ctx context.Context, req Request) (Reply, error)
}

// Request is one question to a model.
type Request struct {
	Stage  Stage
	System string // what the model is and must heed; it holds no tool results
	Parts  []Part // the prompt in pieces
	// Schema describes the JSON that is wanted; nil where text is.
	Schema json.RawMessage
	// MaxOutput is the greatest length of the reply, in tokens.
	MaxOutput int
}

// Prompt is the text of all parts.
func (r Request) Prompt() string {
	var b strings.Builder
	for _, p := range r.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Part is a piece of a prompt.
type Part struct {
	Kind PartKind
	Text string
}

// PartKind says where a piece comes from, for providers that mark tool data and
// for tracing.
type PartKind int

// The kinds of parts.
const (
	PartText      PartKind = iota // instructions, memory and the request
	PartToolInput                 // arguments of an earlier call
	PartToolText                  // what a tool gave: data, never instructions
)

// Reply is what a model said: a text, JSON, or a tool call. Where JSON is wanted
// a text that is JSON will do.
type Reply struct {
	Text     string
	JSON     json.RawMessage
	ToolCall *ToolCall
}

// ToolCall names a tool and its arguments. At StagePlan it is plan and arguments
// in one.
type ToolCall struct {
	Name  string
	Input json.RawMessage
}

// ErrorKind says what became of a request that failed.
type ErrorKind string

// The kinds of model errors.
const (
	ErrorProvider  ErrorKind = "provider"  // unreachable, overloaded, broken
	ErrorGuardrail ErrorKind = "guardrail" // the model refuses to answer this
	ErrorMalformed ErrorKind = "malformed" // it replied, but not in the form asked for
)

// ModelError is an error of a Model with its kind.
type ModelError struct {
	Kind    ErrorKind
	Message string
	Err     error // the cause, or nil
}

// Error returns kind and message.
func (e *ModelError) Error() string { return string(e.Kind) + " error: " + e.Message }

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
