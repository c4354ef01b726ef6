package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// Runner runs calls over one backend. It is for one goroutine.
type Runner struct {
	Backend     vfs.Backend
	AllowWrites bool
	Defaults    Options // of requests that do not say
	All         bool    // follow cursors in requests that do not say

	// Denied is the tool that was last refused for want of AllowWrites, "" if none
	// was: the caller can tell a person what the model cannot change.
	Denied string

	toolsets map[limits]*agenttool.Toolset
}

// Page is one result of a tool.
type Page struct {
	Output agenttool.Output `json:"output"`
	Text   string           `json:"text"`
	Tokens int              `json:"tokens"`
}

// Failure is an error of a tool, as JSON.
type Failure struct {
	Code    codes.Code `json:"code"`
	Message string     `json:"message"`
}

// FailureOf returns the code and message of an error, whose text is what the
// model would see.
func FailureOf(err error) *Failure {
	var e *agenttool.Error
	if errors.As(err, &e) {
		return &Failure{Code: e.Code, Message: e.Message}
	}
	return &Failure{Code: agenttool.CodeOf(err), Message: err.Error()}
}

// Writes reports whether the tool called name changes files.
func Writes(name string) bool {
	return slices.ContainsFunc(agenttool.All(), func(t agenttool.Tool) bool { return t.Name == name && t.Writes })
}

// Toolset returns the tools under the given options, or an error that names
// the option that is out of range.
func (r *Runner) Toolset(o Options) (*agenttool.Toolset, error) {
	l, err := o.orElse(r.Defaults).resolve()
	if err != nil {
		return nil, err
	}
	if t, ok := r.toolsets[l]; ok {
		return t, nil
	}
	t, err := l.toolset(r.Backend, r.AllowWrites)
	if err != nil {
		return nil, err
	}
	if r.toolsets == nil {
		r.toolsets = map[limits]*agenttool.Toolset{}
	}
	if len(r.toolsets) < maxToolsets {
		r.toolsets[l] = t
	}
	return t, nil
}

// maxToolsets bounds what a long stream of requests keeps.
const maxToolsets = 64

// Run runs one request and passes on its pages, all of them if the request
// follows cursors. It ends after the first error, of a tool or of page.
func (r *Runner) Run(ctx context.Context, req Request, page func(Page) error) error {
	tools, err := r.Toolset(req.Options)
	var refusal *agenttool.Error
	switch {
	case errors.As(err, &refusal):
		return refusal
	case err != nil:
		return &agenttool.Error{Code: codes.InvalidArgument, Message: err.Error(), Err: err}
	}
	if Writes(req.Tool) && !r.AllowWrites {
		r.Denied = req.Tool
		return &agenttool.Error{Code: codes.ReadOnly, Message: req.Tool + " changes files, and here they can only be read."}
	}
	all := r.All
	if req.All != nil {
		all = *req.All
	}
	for input := req.Input; ; {
		res, err := tools.Call(ctx, agenttool.Scope{}, req.Tool, input)
		if err != nil {
			return err
		}
		if err := page(Page{Output: res.Output, Text: res.Text, Tokens: res.Tokens}); err != nil {
			return err
		}
		next := res.Output.Next()
		if next == "" || !all {
			return nil
		}
		if input, err = withCursor(input, next); err != nil {
			return err
		}
	}
}

// withCursor returns the arguments that continue a call.
func withCursor(input json.RawMessage, cursor string) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, err
	}
	c, err := json.Marshal(cursor)
	if err != nil {
		return nil, err
	}
	args["cursor"] = c
	delete(args, "offset") // says where the first page starts
	return json.Marshal(args)
}
