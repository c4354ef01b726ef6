// Package turns is the kind of scenario that runs the engine of package turn
// with a scripted model.
package turns

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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
func (s *script) Check(b *scenario.Base) error {
	for i := range s.Turns {
		t := &s.Turns[i]
		if err := t.expand(b); err != nil {
			return t.Pos.At(err)
		}
	}
	if err := s.checkConversations(); err != nil {
		return err
	}
	switch {
	case len(s.Turns) == 0:
		return errors.New("turns lists no turn, write one")
	case s.MaxSteps != nil && *s.MaxSteps < 1:
		return fmt.Errorf("maxSteps %d is not a positive number", *s.MaxSteps)
	}
	return nil
}

// turnScript is one turn, and what happens before it.
type turnScript struct {
	Pos          strictyaml.Pos
	Change       change       `yaml:"change"`  // to the world, before the turn
	Restart      bool         `yaml:"restart"` // of the agent, before the turn
	Ask          string       `yaml:"ask"`
	Conversation string       `yaml:"conversation"`
	Approvals    []approval   `yaml:"approvals"`
	Fallback     []cloudReply `yaml:"fallback"`
	Model        []modelReply `yaml:"model"`
	Cancel       bool         `yaml:"cancel"` // by the person, once the model has given its replies
	Expect       expect       `yaml:"expect"`
}

// change is what someone else does before a turn.
type change struct {
	Pos    strictyaml.Pos
	Write  map[string]scenario.File `yaml:"write"`
	Remove scenario.Texts           `yaml:"remove"`
	Memory map[string]remembered    `yaml:"memory"`
}

func (c *change) files() scenario.Change {
	return scenario.Change{Pos: c.Pos, Write: c.Write, Remove: c.Remove}
}

// Validate implements strictyaml.Validator.
func (t *turnScript) Validate() error {
	switch {
	case strings.TrimSpace(t.Ask) == "":
		return errors.New("a turn needs an ask, the text of the person")
	case t.Cancel && t.Expect.outcome() != "":
		return fmt.Errorf("a turn that is cancelled has no outcome, so expect.%s cannot stand beside cancel", t.Expect.outcome())
	}
	return nil
}

// expand makes the repeated texts of the turn.
func (t *turnScript) expand(b *scenario.Base) error {
	if err := b.Settle(t.Change.files()); err != nil {
		return err
	}
	for i := range t.Model {
		r := &t.Model[i]
		var err error
		if r.ToolCall != nil {
			r.ToolCall.Input, err = b.Expand(r.ToolCall.Input)
		} else {
			r.JSON, err = b.Expand(r.JSON)
		}
		if err != nil {
			return r.Pos.At(err)
		}
	}
	return nil
}

// checkConversations refuses a memory that no turn looks at.
func (s *script) checkConversations() error {
	for _, id := range slices.Sorted(maps.Keys(s.Memory)) { // so that the same error comes each time
		if err := s.used(id, s.Memory[id], 0); err != nil {
			return err
		}
	}
	for i := range s.Turns {
		c := s.Turns[i].Change
		for _, id := range slices.Sorted(maps.Keys(c.Memory)) {
			if err := s.used(id, c.Memory[id], i); err != nil {
				return err
			}
		}
	}
	return nil
}

// used returns an error unless a turn from the given one on is of the
// conversation.
func (s *script) used(id string, m remembered, from int) error {
	if slices.ContainsFunc(s.Turns[from:], func(t turnScript) bool { return t.Conversation == id }) {
		return nil
	}
	return m.Pos.Errorf("no turn from here on is of the conversation %s, so this memory is never looked at", conversationName(id))
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
