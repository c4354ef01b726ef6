package turns

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// cues are the approvals and fallback replies listed in one place, taken in
// order.
type cues struct {
	approvals           *[]approval
	fallback            *[]cloudReply
	approved, fallbacks int   // taken so far
	err                 error // the first that did not fit
}

func newCues(approvals *[]approval, fallback *[]cloudReply) *cues {
	return &cues{approvals: approvals, fallback: fallback}
}

// approve answers with the next approval, which must be for this call.
func (c *cues) approve(req turn.ApprovalRequest, tr *trace) (bool, error) {
	path := pathOf(req.Input)
	if c.approved == len(*c.approvals) {
		return false, c.fail(fmt.Errorf("%s on %s asks for an approval, but the %d that are listed were given", req.Tool, path, c.approved))
	}
	a := (*c.approvals)[c.approved]
	if a.Tool != req.Tool || a.Path != "" && a.Path != path {
		return false, c.fail(a.Pos.Errorf("this approval is for %s on %s, but %s on %s asks", a.Tool, orAny(a.Path), req.Tool, path))
	}
	c.approved++
	tr.note("approval %s %s: %s", req.Tool, path, a.Answer)
	return a.Answer == "yes", nil
}

// answer gives the next reply of the fallback.
func (c *cues) answer(req turn.FallbackRequest, tr *trace) (string, error) {
	if c.fallbacks == len(*c.fallback) {
		return "", c.fail(fmt.Errorf("the fallback is asked for %s, but the %d replies that are listed were given", req.Reason, c.fallbacks))
	}
	reply := (*c.fallback)[c.fallbacks]
	c.fallbacks++
	tr.fallback(req)
	if reply.Error != nil {
		return "", errors.New(reply.Error.Message)
	}
	return *reply.Text, nil
}

func (c *cues) fail(err error) error {
	if c.err == nil {
		c.err = err
	}
	return err
}

// left returns an error if something listed was not used.
func (c *cues) left() error {
	if n := len(*c.approvals); c.approved < n {
		a := (*c.approvals)[c.approved]
		return a.Pos.Errorf("%d of %d approvals were not asked for, the first of them is %s on %s", n-c.approved, n, a.Tool, orAny(a.Path))
	}
	if n := len(*c.fallback); c.fallbacks < n {
		return (*c.fallback)[c.fallbacks].Pos.Errorf("%d of %d replies of the fallback were not used", n-c.fallbacks, n)
	}
	return nil
}

func orAny(path string) string {
	if path == "" {
		return "any path"
	}
	return path
}

// pathOf returns the path in a tool's arguments, "" if there is none.
func pathOf(input []byte) string {
	var args struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	return args.Path
}
