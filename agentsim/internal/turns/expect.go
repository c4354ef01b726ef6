package turns

import (
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// expect is what must hold of a turn, whatever the golden says.
type expect struct {
	Pos        strictyaml.Pos
	HandledBy  handler                      `yaml:"handledBy"`
	Steps      *int                         `yaml:"steps"`
	Answer     *string                      `yaml:"answer"`   // exactly
	Contains   scenario.Texts               `yaml:"contains"` // in the answer
	Lacks      scenario.Texts               `yaml:"lacks"`    // in the answer
	Reason     reason                       `yaml:"reason"`   // of the escalation, or none
	BestEffort *bool                        `yaml:"bestEffort"`
	Refused    *bool                        `yaml:"refused"`
	Error      *string                      `yaml:"error"`    // a part of the error that the run ends with
	Tools      []toolStep                   `yaml:"tools"`    // what each step did
	Prompt     prompts                      `yaml:"prompt"`   // what the model was sent
	Fallback   *given                       `yaml:"fallback"` // what the fallback was given
	Memory     *memoryExpect                `yaml:"memory"`   // of the conversation, after the turn
	Files      map[string]scenario.FileText `yaml:"files"`    // of the conversation, after the turn
}

// Validate implements strictyaml.Validator.
func (e *expect) Validate() error {
	if e.Error != nil && e.outcome() != "" {
		return fmt.Errorf("a run that ends with an error has no outcome, so %s cannot stand beside error", e.outcome())
	}
	return nil
}

// outcome is the name of an expectation that needs an outcome, "" if there is
// none.
func (e *expect) outcome() string {
	for _, option := range []struct {
		name string
		set  bool
	}{
		{"handledBy", e.HandledBy != ""}, {"steps", e.Steps != nil}, {"answer", e.Answer != nil}, {"contains", e.Contains != nil},
		{"lacks", e.Lacks != nil}, {"reason", e.Reason != ""}, {"bestEffort", e.BestEffort != nil}, {"refused", e.Refused != nil},
		{"tools", e.Tools != nil},
	} {
		if option.set {
			return option.name
		}
	}
	return ""
}

type handler string

// Allowed implements strictyaml.Enum.
func (handler) Allowed() []string {
	var names []string
	for _, h := range turn.Handlers() {
		names = append(names, string(h))
	}
	return names
}

type reason string

const noReason = "none"

// Allowed implements strictyaml.Enum.
func (reason) Allowed() []string {
	names := []string{noReason}
	for _, r := range turn.Reasons() {
		names = append(names, string(r))
	}
	return names
}

// toolStep is one step as an expectation names it.
type toolStep struct {
	Tool      string         `yaml:"tool"`
	Status    stepStatus     `yaml:"status"`
	Error     scenario.Code  `yaml:"error"`
	MaxTokens *int           `yaml:"maxTokens"`
	Contains  scenario.Texts `yaml:"contains"` // in what the model sees of it
	Lacks     scenario.Texts `yaml:"lacks"`
}

type stepStatus string

// Allowed implements strictyaml.Enum.
func (stepStatus) Allowed() []string {
	var names []string
	for _, s := range turn.Statuses() {
		names = append(names, string(s))
	}
	return names
}

// promptExpect is about the prompts of a stage, or of all.
type promptExpect struct {
	Stage     stage          `yaml:"stage"`
	Contains  scenario.Texts `yaml:"contains"` // in at least one of them
	Lacks     scenario.Texts `yaml:"lacks"`    // in each of them
	MaxTokens *int           `yaml:"maxTokens"`
}

type prompts []promptExpect

// OneOrMany implements strictyaml.Many.
func (prompts) OneOrMany() {}

type stage string

// Allowed implements strictyaml.Enum.
func (stage) Allowed() []string {
	return []string{string(turn.StagePlan), string(turn.StageArguments), string(turn.StageAnswer), string(turn.StageScribe)}
}

// given is about what the fallback was given, as the transcript shows it and with
// the text of each step.
type given struct {
	Contains scenario.Texts `yaml:"contains"`
	Lacks    scenario.Texts `yaml:"lacks"`
}

type memoryExpect struct {
	Summary *scenario.Text `yaml:"summary"`
	Recent  *[]exchange    `yaml:"recent"` // what is left out of one is not compared
}
