// Package turns is the kind of scenario that runs the engine of package turn
// with a scripted model.
package turns

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// Key is the name of the kind in scenario.yaml.
const Key = "turns"

// New returns an empty script.
func New() replay.Script { return &script{} }

// script is what scenario.yaml says in this kind alone.
type script struct {
	Pos       strictyaml.Pos
	MaxSteps  *int                  `yaml:"maxSteps"`
	Memory    map[string]remembered `yaml:"memory"`
	Approvals []approval            `yaml:"approvals"`
	Fallback  []cloudReply          `yaml:"fallback"`
	Turns     []turnScript          `yaml:"turns"`
}

var _ replay.Kind = New

// Key implements scenario.Part.
func (*script) Key() string { return Key }

// Check implements scenario.Part.
func (s *script) Check(*scenario.Base) error {
	switch {
	case len(s.Turns) == 0:
		return errors.New("turns lists no turn, write one")
	case s.MaxSteps != nil && *s.MaxSteps < 1:
		return fmt.Errorf("maxSteps %d is not a positive number", *s.MaxSteps)
	}
	return nil
}

type remembered struct {
	Pos     strictyaml.Pos
	Summary string     `yaml:"summary"`
	Recent  []exchange `yaml:"recent"`
	Raw     *string    `yaml:"raw"` // the stored value itself, for damaged ones
}

// Validate implements strictyaml.Validator.
func (m *remembered) Validate() error {
	if m.Raw != nil && (m.Summary != "" || m.Recent != nil) {
		return errors.New("raw is the whole stored value, so summary and recent cannot stand beside it")
	}
	return nil
}

type exchange struct {
	Ask    string   `yaml:"ask"`
	Answer string   `yaml:"answer"`
	At     string   `yaml:"at"`
	Steps  []string `yaml:"steps"`
}

type turnScript struct {
	Pos          strictyaml.Pos
	Ask          string       `yaml:"ask"`
	Conversation string       `yaml:"conversation"`
	Approvals    []approval   `yaml:"approvals"`
	Fallback     []cloudReply `yaml:"fallback"`
	Model        []modelReply `yaml:"model"`
	Expect       expect       `yaml:"expect"`
}

// Validate implements strictyaml.Validator.
func (t *turnScript) Validate() error {
	if strings.TrimSpace(t.Ask) == "" {
		return errors.New("a turn needs an ask, the text of the person")
	}
	return nil
}

type approval struct {
	Pos    strictyaml.Pos
	Tool   string `yaml:"tool"`
	Path   string `yaml:"path"`
	Answer yesNo  `yaml:"answer"`
}

type yesNo string

// Allowed implements strictyaml.Enum.
func (yesNo) Allowed() []string { return []string{"yes", "no"} }

// Validate implements strictyaml.Validator.
func (a *approval) Validate() error {
	if a.Tool == "" || a.Answer == "" {
		return errors.New("an approval needs the tool it is asked for, and the answer yes or no")
	}
	return nil
}

// cloudReply is one reply of the fallback.
type cloudReply struct {
	Pos   strictyaml.Pos
	Text  *string     `yaml:"text"`
	Error *modelError `yaml:"error"`
}

// Validate implements strictyaml.Validator.
func (c *cloudReply) Validate() error {
	if (c.Text == nil) == (c.Error == nil) {
		return errors.New("a reply of the fallback is either a text or an error")
	}
	return nil
}

// modelReply is one reply of the scripted model.
type modelReply struct {
	Pos      strictyaml.Pos
	Text     *string         `yaml:"text"`
	JSON     json.RawMessage `yaml:"json"`
	ToolCall *toolCall       `yaml:"toolCall"`
	Error    *modelError     `yaml:"error"`
}

// Validate implements strictyaml.Validator.
func (r *modelReply) Validate() error {
	n := 0
	for _, set := range []bool{r.Text != nil, r.JSON != nil, r.ToolCall != nil, r.Error != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		return errors.New("a reply of the model is one of text, json, toolCall and error")
	}
	return nil
}

type toolCall struct {
	Name  string          `yaml:"name"`
	Input json.RawMessage `yaml:"input"`
}

// Validate implements strictyaml.Validator.
func (t *toolCall) Validate() error {
	if t.Name == "" {
		return errors.New("a toolCall needs the name of a tool")
	}
	return nil
}

type modelError struct {
	Message string    `yaml:"message"`
	Kind    errorKind `yaml:"kind"`
}

type errorKind string

// Allowed implements strictyaml.Enum.
func (errorKind) Allowed() []string { return []string{"provider", "guardrail", "malformed"} }
