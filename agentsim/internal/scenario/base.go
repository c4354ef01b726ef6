package scenario

import (
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// Base is what scenario.yaml says in a scenario of every kind: the files that an
// agent works on, and the budgets of what it is shown. Pointers and nil slices
// tell what was left out.
type Base struct {
	Pos        strictyaml.Pos
	Version    int             `yaml:"version"`
	Window     *int            `yaml:"window"`
	Tokenizer  string          `yaml:"tokenizer"` // of the model, "" where the scenario does not say
	Budgets    Budgets         `yaml:"budgets"`
	Filesystem Filesystem      `yaml:"filesystem"`
	Stores     Stores          `yaml:"stores"`
	Files      map[string]File `yaml:"files"`

	// Repeats are the texts that Expand has made, by their form in JSON.
	Repeats []Repeat
	made    int // bytes of seeds and repeated texts
}

// Validate implements strictyaml.Validator.
func (b *Base) Validate() error {
	switch {
	case b.Version == 0:
		return errors.New("a scenario needs the line \"version: 1\"")
	case b.Version != 1:
		return fmt.Errorf("version %d is not known, this reads version: 1", b.Version)
	case notPositive(b.Window):
		return fmt.Errorf("window %d is not a positive number of tokens", *b.Window)
	case notPositive(b.Budgets.ToolResultTokens) || notPositive(b.Budgets.RetrievedContextTokens):
		return errors.New("a budget is at least 1 token, leave it out for its default")
	}
	return nil
}

func notPositive(n *int) bool { return n != nil && *n < 1 }

// WindowTokens is the window of the model, in tokens.
func (b *Base) WindowTokens() int {
	if b.Window == nil {
		return turn.DefaultWindow
	}
	return *b.Window
}

// ToolResultTokens is the most that one result of a tool costs, as a turn has
// it.
func (b *Base) ToolResultTokens() (int, error) {
	if set := b.Budgets.ToolResultTokens; set != nil {
		return *set, nil
	}
	budgets, err := turn.Budgets{}.For(b.WindowTokens())
	return budgets.ToolResultTokens, err
}

// Budgets bound what tools may show, in tokens; nil means the default.
type Budgets struct {
	ToolResultTokens       *int `yaml:"toolResultTokens"`
	RetrievedContextTokens *int `yaml:"retrievedContextTokens"`
}

// Turn returns the budgets of a turn; what is not set is left to its default.
func (b Budgets) Turn() turn.Budgets {
	var set turn.Budgets
	if b.ToolResultTokens != nil {
		set.ToolResultTokens = *b.ToolResultTokens
	}
	if b.RetrievedContextTokens != nil {
		set.RetrievedContextTokens = *b.RetrievedContextTokens
	}
	return set
}

// Filesystem adjusts the file tools, as agenttool.Options do.
type Filesystem struct {
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

// Stores are what holds the files: one at "/" and routes to others.
type Stores struct {
	Default *Store           `yaml:"default"`
	Routes  map[string]Store `yaml:"routes"`
}

// Store is one of them.
type Store struct {
	Pos             strictyaml.Pos
	Store           StoreKind `yaml:"store"`
	ReadOnly        bool      `yaml:"readOnly"`
	PerConversation bool      `yaml:"perConversation"`
	Error           Fault     `yaml:"error"`
}

// StoreKind is what a store of a scenario is made of.
type StoreKind string

// The kinds of stores.
const (
	StoreMemory  StoreKind = "memory"
	StoreStatic  StoreKind = "static"
	StoreFailing StoreKind = "failing"
)

// Allowed implements strictyaml.Enum.
func (StoreKind) Allowed() []string {
	return []string{string(StoreMemory), string(StoreStatic), string(StoreFailing)}
}

// Validate implements strictyaml.Validator.
func (s *Store) Validate() error {
	if s.Error != "" && s.Store != StoreFailing {
		return errors.New("error belongs to a store that is failing, write store: failing")
	}
	return nil
}

// File is the content of a file: a text, or one that is repeated.
type File struct {
	Pos    strictyaml.Pos
	Text   *string `yaml:"text"`
	Repeat *string `yaml:"repeat"`
	Count  int     `yaml:"count"`
}

// SetText implements strictyaml.Short.
func (f *File) SetText(text string) { f.Text = &text }

// Validate implements strictyaml.Validator.
func (f *File) Validate() error {
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
