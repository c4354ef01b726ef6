package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// Approval says who agrees to a change before it is made.
type Approval string

// The approvals.
const (
	// ApprovalClient leaves it to the client, which learns from annotations which
	// tools change files.
	ApprovalClient Approval = "client"
	// ApprovalAsk has the client ask a person about each change (elicitation). A
	// client that cannot ask gets not-approved.
	ApprovalAsk Approval = "ask"
	// ApprovalNever answers every change with not-approved. It shows what an agent
	// would do.
	ApprovalNever Approval = "never"
)

// Approvals returns the approvals.
func Approvals() []Approval { return []Approval{ApprovalClient, ApprovalAsk, ApprovalNever} }

// Why a change is not made, each behind its code: what the model is shown.
const (
	textDeclined = "the person declined this change, do not repeat it unless you are asked to"
	textNobody   = "nobody can be asked for approval through this client, do not repeat the call, tell the user what you would have changed"
	textSilent   = "nobody answered the question for approval in time, do not repeat the call, tell the user what you would have changed"
	textNever    = "changes are never approved here, do not repeat the call, tell the user what you would have changed"
	textUnsaid   = "the question for approval was accepted without an answer to it, which is no yes, do not repeat the call, tell the user what you would have changed"
	textBroken   = "the client answered the question for approval with an error, do not repeat the call, tell the user what you would have changed"
	textOther    = "the approval was given for another call, call again so that the person is asked about this one"
	textUsed     = "the approval was used already, and counts for one call: call again so that the person is asked about this one"
)

func notApproved(text string) *mcp.CallToolResult {
	return failure((&agenttool.Error{Code: codes.NotApproved, Message: text}).Error())
}

// newProtocol is the first version in which a server asks by a result, which the
// client answers by calling again.
const newProtocol = "2026-07-28"

// question is the key of our question among those of a result.
const question = "approve"

var questionSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Allow this change"}},"required":["approve"]}`)

// approve returns nil when the change may be made, else what the client is
// answered: a refusal, or a question.
func (s *Server) approve(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	switch s.opts.Approval {
	case ApprovalClient:
		return nil, nil
	case ApprovalNever:
		return notApproved(textNever), nil
	}
	client := req.Session.InitializeParams()
	if !canAsk(client) {
		return notApproved(textNobody), nil
	}
	ask := &mcp.ElicitParams{Mode: "form", Message: describeChange(req.Params.Name, req.Params.Arguments), RequestedSchema: questionSchema}
	if client.ProtocolVersion >= newProtocol {
		return s.approveByResult(req.Params, ask), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.ApprovalTimeout, errSilent)
	defer cancel()
	var heard *mcp.ElicitResult
	_, err := req.Session.Elicit(context.WithValue(ctx, heardKey{}, &heard), ask)
	var refused *jsonrpc.Error
	switch {
	case heard != nil: // whatever the SDK thinks of its form
		return decide(heard), nil
	case errors.Is(context.Cause(ctx), errSilent):
		return notApproved(textSilent), nil
	case ctx.Err() != nil:
		return failure((&agenttool.Error{Code: codes.Canceled, Message: "the call was canceled, do not go on"}).Error()), nil
	}
	if errors.As(err, &refused) && refused.Code != jsonrpc.CodeMethodNotFound {
		return notApproved(textBroken), nil
	}
	return notApproved(textNobody), nil // it said that it could ask, and cannot
}

// heardKey is where a context has room for the answer to a question. The SDK keeps
// an answer that does not fit the schema to itself, and returns an error that
// cannot be told from others.
type heardKey struct{}

// hear notes the answer to a question as it came.
func hear(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if room, ok := ctx.Value(heardKey{}).(**mcp.ElicitResult); ok && err == nil {
			*room, _ = res.(*mcp.ElicitResult)
		}
		return res, err
	}
}

var errSilent = errors.New("nobody answered")

// canAsk reports whether a client has said that it can show a form.
func canAsk(client *mcp.InitializeParams) bool {
	if client == nil || client.Capabilities == nil {
		return false
	}
	e := client.Capabilities.Elicitation
	return e != nil && (e.Form != nil || e.URL == nil) // before there were two kinds, forms were meant
}

// approveByResult asks, or takes the answer that came with the call. The seal
// ties an answer to the call it was given for, which is made once.
func (s *Server) approveByResult(call *mcp.CallToolParamsRaw, ask *mcp.ElicitParams) *mcp.CallToolResult {
	response, answered := call.InputResponses[question]
	if !answered {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: ask}, RequestState: s.seals.of(call.Name, call.Arguments)}
	}
	if why := s.seals.use(call.RequestState, call.Name, call.Arguments); why != "" {
		return notApproved(why)
	}
	answer, _ := response.(*mcp.ElicitResult)
	return decide(answer)
}

func decide(answer *mcp.ElicitResult) *mcp.CallToolResult {
	if answer == nil || answer.Action != "accept" {
		return notApproved(textDeclined)
	}
	yes, said := answer.Content["approve"].(bool)
	switch {
	case !said:
		return notApproved(textUnsaid)
	case !yes:
		return notApproved(textDeclined)
	}
	return nil
}

// maxShown is how many characters of a text a question shows.
const maxShown = 200

// describeChange is the question for a person. What the model sent stands in
// quotes, so that it cannot pass for part of the question.
func describeChange(tool string, input json.RawMessage) string {
	var args struct {
		Path     string  `json:"path"`
		Content  *string `json:"content"`
		Revision *string `json:"revision"`
		OldText  string  `json:"oldText"`
		NewText  string  `json:"newText"`
	}
	if err := json.Unmarshal(input, &args); err != nil {
		return fmt.Sprintf("Allow %s with the arguments %s?", tool, shown(string(input)))
	}
	path := shown(args.Path)
	switch {
	case tool == agenttool.WriteFile && args.Content != nil && args.Revision != nil:
		return fmt.Sprintf("Allow writeFile to replace the whole of %s by %d bytes that begin %s?", path, len(*args.Content), shown(*args.Content))
	case tool == agenttool.WriteFile && args.Content != nil:
		return fmt.Sprintf("Allow writeFile to create %s with %d bytes that begin %s?", path, len(*args.Content), shown(*args.Content))
	case tool == agenttool.EditFile:
		return fmt.Sprintf("Allow editFile in %s to replace %s by %s?", path, shown(args.OldText), shown(args.NewText))
	}
	return fmt.Sprintf("Allow %s of %s?", tool, path)
}

// shown quotes a text and cuts it where it is long.
func shown(text string) string {
	r := []rune(strings.ToValidUTF8(text, "\ufffd"))
	if len(r) > maxShown {
		return fmt.Sprintf("%q and %d more characters", string(r[:maxShown]), len(r)-maxShown)
	}
	return fmt.Sprintf("%q", string(r))
}
