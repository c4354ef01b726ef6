package agentsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// Scenario is one loaded scenario. It is not changed by a replay, so one can be
// replayed many times and at the same time.
type Scenario struct {
	Path        string // the file it was loaded from
	Name        string // area/name, without the extension
	Description string // the archive's comment, without space around it

	spec  spec
	seeds map[string]string // canonical path to content
}

// spec is scenario.yaml. Pointers and nil slices tell what was left out.
type spec struct {
	Pos        strictyaml.Pos
	Version    int                   `yaml:"version"`
	Window     *int                  `yaml:"window"`
	MaxSteps   *int                  `yaml:"maxSteps"`
	Budgets    budgetSpec            `yaml:"budgets"`
	Filesystem filesystemSpec        `yaml:"filesystem"`
	Stores     storesSpec            `yaml:"stores"`
	Files      map[string]fileSpec   `yaml:"files"`
	Memory     map[string]memorySpec `yaml:"memory"`
	Approvals  []approvalSpec        `yaml:"approvals"`
	Fallback   []cloudSpec           `yaml:"fallback"`
	Turns      []turnSpec            `yaml:"turns"`
	Calls      []callSpec            `yaml:"calls"`
}

type budgetSpec struct {
	ToolResultTokens       *int `yaml:"toolResultTokens"`
	RetrievedContextTokens *int `yaml:"retrievedContextTokens"`
}

// budgets are those of a turn; what is not set is left to its default.
func (b budgetSpec) budgets() turn.Budgets {
	var set turn.Budgets
	if b.ToolResultTokens != nil {
		set.ToolResultTokens = *b.ToolResultTokens
	}
	if b.RetrievedContextTokens != nil {
		set.RetrievedContextTokens = *b.RetrievedContextTokens
	}
	return set
}

type filesystemSpec struct {
	Root     string   `yaml:"root"`
	ReadOnly *bool    `yaml:"readOnly"`
	Tools    []string `yaml:"tools"`
	Read     struct {
		DefaultLines int `yaml:"defaultLines"`
		MaxLines     int `yaml:"maxLines"`
	} `yaml:"read"`
	Search struct {
		MaxMatches int `yaml:"maxMatches"`
		MaxFiles   int `yaml:"maxFiles"`
	} `yaml:"search"`
}

type storesSpec struct {
	Default *storeSpec           `yaml:"default"`
	Routes  map[string]storeSpec `yaml:"routes"`
}

type storeSpec struct {
	Pos             strictyaml.Pos
	Store           storeKind `yaml:"store"`
	ReadOnly        bool      `yaml:"readOnly"`
	PerConversation bool      `yaml:"perConversation"`
	Error           faultCode `yaml:"error"`
}

// storeKind is what a store of a scenario is made of.
type storeKind string

const (
	storeMemory  storeKind = "memory"
	storeStatic  storeKind = "static"
	storeFailing storeKind = "failing"
)

// Allowed implements strictyaml.Enum.
func (storeKind) Allowed() []string {
	return []string{string(storeMemory), string(storeStatic), string(storeFailing)}
}

// Validate implements strictyaml.Validator.
func (s *storeSpec) Validate() error {
	if s.Error != "" && s.Store != storeFailing {
		return errors.New("error belongs to a store that is failing, write store: failing")
	}
	return nil
}

type fileSpec struct {
	Pos    strictyaml.Pos
	Text   *string `yaml:"text"`
	Repeat *string `yaml:"repeat"`
	Count  int     `yaml:"count"`
}

// Validate implements strictyaml.Validator.
func (f *fileSpec) Validate() error {
	switch {
	case (f.Text == nil) == (f.Repeat == nil):
		return errors.New("a file needs either text, or repeat with count")
	case f.Text != nil && f.Count != 0:
		return errors.New("count belongs to repeat, not to text")
	case f.Repeat != nil && f.Count < 1:
		return errors.New("repeat needs a count of 1 or more")
	}
	return nil
}

type memorySpec struct {
	Pos     strictyaml.Pos
	Summary string         `yaml:"summary"`
	Recent  []exchangeSpec `yaml:"recent"`
	Raw     *string        `yaml:"raw"` // the stored value itself, for damaged ones
}

// Validate implements strictyaml.Validator.
func (m *memorySpec) Validate() error {
	if m.Raw != nil && (m.Summary != "" || m.Recent != nil) {
		return errors.New("raw is the whole stored value, so summary and recent cannot stand beside it")
	}
	return nil
}

type exchangeSpec struct {
	Ask    string   `yaml:"ask"`
	Answer string   `yaml:"answer"`
	At     string   `yaml:"at"`
	Steps  []string `yaml:"steps"`
}

type turnSpec struct {
	Pos          strictyaml.Pos
	Ask          string         `yaml:"ask"`
	Conversation string         `yaml:"conversation"`
	Approvals    []approvalSpec `yaml:"approvals"`
	Fallback     []cloudSpec    `yaml:"fallback"`
	Model        []replySpec    `yaml:"model"`
	Expect       turnExpect     `yaml:"expect"`
}

// Validate implements strictyaml.Validator.
func (t *turnSpec) Validate() error {
	if strings.TrimSpace(t.Ask) == "" {
		return errors.New("a turn needs an ask, the text of the person")
	}
	return nil
}

type approvalSpec struct {
	Pos    strictyaml.Pos
	Tool   string `yaml:"tool"`
	Path   string `yaml:"path"`
	Answer yesNo  `yaml:"answer"`
}

type yesNo string

// Allowed implements strictyaml.Enum.
func (yesNo) Allowed() []string { return []string{"yes", "no"} }

// Validate implements strictyaml.Validator.
func (a *approvalSpec) Validate() error {
	if a.Tool == "" || a.Answer == "" {
		return errors.New("an approval needs the tool it is asked for, and the answer yes or no")
	}
	return nil
}

// cloudSpec is one reply of the fallback.
type cloudSpec struct {
	Pos   strictyaml.Pos
	Text  *string    `yaml:"text"`
	Error *errorSpec `yaml:"error"`
}

// Validate implements strictyaml.Validator.
func (c *cloudSpec) Validate() error {
	if (c.Text == nil) == (c.Error == nil) {
		return errors.New("a reply of the fallback is either a text or an error")
	}
	return nil
}

// replySpec is one reply of the scripted model.
type replySpec struct {
	Pos      strictyaml.Pos
	Text     *string         `yaml:"text"`
	JSON     json.RawMessage `yaml:"json"`
	ToolCall *toolCallSpec   `yaml:"toolCall"`
	Error    *errorSpec      `yaml:"error"`
}

// Validate implements strictyaml.Validator.
func (r *replySpec) Validate() error {
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

type toolCallSpec struct {
	Name  string          `yaml:"name"`
	Input json.RawMessage `yaml:"input"`
}

// Validate implements strictyaml.Validator.
func (t *toolCallSpec) Validate() error {
	if t.Name == "" {
		return errors.New("a toolCall needs the name of a tool")
	}
	return nil
}

type errorSpec struct {
	Message string    `yaml:"message"`
	Kind    errorKind `yaml:"kind"`
}

type errorKind string

// Allowed implements strictyaml.Enum.
func (errorKind) Allowed() []string { return []string{"provider", "guardrail", "malformed"} }

type callSpec struct {
	Pos          strictyaml.Pos
	Tool         string          `yaml:"tool"`
	Input        json.RawMessage `yaml:"input"`
	Pages        pagesSpec       `yaml:"pages"`
	Conversation string          `yaml:"conversation"`
	Cancel       bool            `yaml:"cancel"`
	Expect       callExpect      `yaml:"expect"`
}

type pagesSpec string

// Allowed implements strictyaml.Enum.
func (pagesSpec) Allowed() []string { return []string{"all"} }

// Validate implements strictyaml.Validator.
func (c *callSpec) Validate() error {
	if c.Tool == "" {
		return errors.New("a call needs the name of a tool")
	}
	return nil
}

func notPositive(n *int) bool { return n != nil && *n < 1 }

// Validate implements strictyaml.Validator.
func (s *spec) Validate() error {
	switch {
	case s.Version == 0:
		return errors.New("a scenario needs the line \"version: 1\"")
	case s.Version != 1:
		return fmt.Errorf("version %d is not known, this reads version: 1", s.Version)
	case len(s.Turns) == 0 && len(s.Calls) == 0:
		return errors.New("a scenario needs either turns or calls, this has neither")
	case len(s.Turns) > 0 && len(s.Calls) > 0:
		return errors.New("a scenario needs either turns or calls, this has both: make it two")
	case len(s.Calls) > 0 && (s.Memory != nil || s.MaxSteps != nil || s.Approvals != nil || s.Fallback != nil || s.Budgets.RetrievedContextTokens != nil):
		return errors.New("calls run tools without a model, so memory, maxSteps, approvals, fallback and budgets.retrievedContextTokens mean nothing here: use turns")
	case notPositive(s.Window):
		return fmt.Errorf("window %d is not a positive number of tokens", *s.Window)
	case notPositive(s.MaxSteps):
		return fmt.Errorf("maxSteps %d is not a positive number", *s.MaxSteps)
	case notPositive(s.Budgets.ToolResultTokens) || notPositive(s.Budgets.RetrievedContextTokens):
		return errors.New("a budget is at least 1 token, leave it out for its default")
	}
	return nil
}
