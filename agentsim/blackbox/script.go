package blackbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// Key is the name of the kind in scenario.yaml.
const Key = "wire"

// script is what scenario.yaml says in this kind alone.
type script struct {
	Pos    strictyaml.Pos
	Agent  agentSpec  `yaml:"agent"`
	MCP    mcpSpec    `yaml:"mcp"`
	Wire   []talkSpec `yaml:"wire"`
	Mask   []maskSpec `yaml:"mask"`
	Show   []part     `yaml:"show"`
	Expect expectSpec `yaml:"expect"`

	opts Options
}

var _ replay.Script = (*script)(nil)

// Key implements scenario.Part.
func (*script) Key() string { return Key }

// Check implements scenario.Part.
func (s *script) Check(b *scenario.Base) error {
	switch {
	case len(s.Wire) == 0:
		return errors.New("wire lists no conversation, write one")
	case b.Budgets.RetrievedContextTokens != nil:
		return errors.New("the agent keeps its own context, so budgets.retrievedContextTokens means nothing beside wire")
	}
	return nil
}

// scripts are the conversations as the model takes them.
func (s *script) scripts() []wire.Script {
	var out []wire.Script
	for i := range s.Wire {
		t := &s.Wire[i]
		one := wire.Script{When: t.When, Side: t.Side}
		for j := range t.Model {
			one.Replies = append(one.Replies, t.Model[j].reply())
		}
		out = append(out, one)
	}
	return out
}

// part is a part of a prompt that a golden shows in full.
type part string

const (
	partSystem part = "system"
	partTools  part = "tools"
)

// Allowed implements strictyaml.Enum.
func (part) Allowed() []string { return []string{string(partSystem), string(partTools)} }

type agentSpec struct {
	Pos     strictyaml.Pos
	Command []string          `yaml:"command"`
	Env     map[string]string `yaml:"env"`
	Files   map[string]string `yaml:"files"`
	Timeout duration          `yaml:"timeout"`
}

// Validate implements strictyaml.Validator.
func (a *agentSpec) Validate() error {
	if a.Command != nil && len(a.Command) == 0 {
		return errors.New("command names no program, write one or leave it out")
	}
	return a.Timeout.check("timeout")
}

// pos is where the agent is described, or else the scenario.
func (a *agentSpec) pos(s *script) strictyaml.Pos {
	if a.Pos.File == "" {
		return s.Pos
	}
	return a.Pos
}

// duration is a time as Go writes it: 1s, 250ms.
type duration string

func (d duration) check(name string) error {
	if d == "" {
		return nil
	}
	if t, err := time.ParseDuration(string(d)); err != nil || t < 0 {
		return fmt.Errorf("%s %q is no time, write one such as 250ms or 60s", name, string(d))
	}
	return nil
}

// or is the time, or what it is if none was given.
func (d duration) or(def time.Duration) time.Duration {
	if t, err := time.ParseDuration(string(d)); err == nil {
		return t
	}
	return def
}

type mcpSpec struct {
	Structured bool    `yaml:"structured"`
	Stateless  bool    `yaml:"stateless"`
	Approve    approve `yaml:"approve"`
}

type approve string

// Allowed implements strictyaml.Enum.
func (approve) Allowed() []string {
	var names []string
	for _, a := range mcptool.Approvals() {
		names = append(names, string(a))
	}
	return names
}

type talkSpec struct {
	Pos    strictyaml.Pos
	When   string      `yaml:"when"`
	Side   bool        `yaml:"side"`
	Model  []replySpec `yaml:"model"`
	Expect talkExpect  `yaml:"expect"`
}

// Validate implements strictyaml.Validator.
func (t *talkSpec) Validate() error {
	if len(t.Model) == 0 {
		return errors.New("a conversation needs a reply of the model, write one")
	}
	return nil
}

// replySpec is one reply of the scripted model.
type replySpec struct {
	Pos       strictyaml.Pos
	Text      string     `yaml:"text"`
	ToolCall  *callSpec  `yaml:"toolCall"`
	ToolCalls []callSpec `yaml:"toolCalls"`
	Error     *errorSpec `yaml:"error"`
	Cut       bool       `yaml:"cut"`
	Truncated bool       `yaml:"truncated"`
	Delay     duration   `yaml:"delay"`
}

// Validate implements strictyaml.Validator.
func (r *replySpec) Validate() error {
	if r.ToolCall != nil && r.ToolCalls != nil {
		return errors.New("toolCall is one call and toolCalls are several, write one of the two")
	}
	if err := r.Delay.check("delay"); err != nil {
		return err
	}
	if r.Text == "" && r.ToolCall == nil && r.ToolCalls == nil && r.Error == nil && !r.Cut {
		return errors.New("a reply of the model is a text, toolCall, toolCalls or an error, and this is none")
	}
	reply := r.reply()
	return wire.Check([]wire.Script{{Replies: []wire.Reply{reply}}})
}

func (r *replySpec) reply() wire.Reply {
	reply := wire.Reply{Text: r.Text, Cut: r.Cut, Truncated: r.Truncated, Delay: r.Delay.or(0)}
	specs := r.ToolCalls
	if r.ToolCall != nil {
		specs = []callSpec{*r.ToolCall}
	}
	for _, c := range specs {
		reply.Calls = append(reply.Calls, wire.Call{Namespace: c.Namespace, Name: c.Name, Input: c.Input})
	}
	if e := r.Error; e != nil {
		reply.Error = &wire.Failure{Status: e.Status, Message: e.Message}
		if e.RetryAfter != "" {
			after := e.RetryAfter.or(0)
			reply.Error.RetryAfter = &after
		}
	}
	return reply
}

type callSpec struct {
	Namespace string          `yaml:"namespace"`
	Name      string          `yaml:"name"`
	Input     json.RawMessage `yaml:"input"`
}

type errorSpec struct {
	Status     int      `yaml:"status"`
	RetryAfter duration `yaml:"retryAfter"`
	Message    string   `yaml:"message"`
}

// Validate implements strictyaml.Validator.
func (e *errorSpec) Validate() error { return e.RetryAfter.check("retryAfter") }

// maskSpec replaces what varies.
type maskSpec struct {
	Pos   strictyaml.Pos
	Match string `yaml:"match"`
	As    string `yaml:"as"`
}

// Validate implements strictyaml.Validator.
func (m *maskSpec) Validate() error {
	re, err := regexp.Compile(m.Match)
	switch {
	case err != nil:
		return fmt.Errorf("match is no regular expression: %w", err)
	case m.Match == "" || re.MatchString(""):
		return errors.New("match fits nothing at all, write what is to be masked")
	}
	return nil
}

// shows reports whether a part of prompts is shown in full.
func (s *script) shows(p part) bool { return slices.Contains(s.Show, p) }
