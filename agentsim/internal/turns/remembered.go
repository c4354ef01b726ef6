package turns

import (
	"errors"
	"fmt"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// remembered is the memory of a conversation as a scenario has it.
type remembered struct {
	Pos     strictyaml.Pos
	Summary string     `yaml:"summary"`
	Recent  []exchange `yaml:"recent"`
	Raw     *string    `yaml:"raw"` // the stored value itself, for damaged ones
	word    string
}

const absent = "absent"

// Validate implements strictyaml.Validator.
func (m *remembered) Validate() error {
	if m.word != "" && m.word != absent {
		return fmt.Errorf("%q is no memory, write its summary and recent, or the word %s", m.word, absent)
	}
	if m.Raw != nil && (m.Summary != "" || m.Recent != nil) {
		return errors.New("raw is the whole stored value, so summary and recent cannot stand beside it")
	}
	return nil
}

// SetText implements strictyaml.Short: the word absent stands for no memory.
func (m *remembered) SetText(text string) { m.word = text }

// exchange is one exchange, as it is remembered or as it is expected to be.
type exchange struct {
	Ask    string   `yaml:"ask"`
	Answer string   `yaml:"answer"`
	At     string   `yaml:"at"`
	Steps  []string `yaml:"steps"`
}

// state is the memory as it is saved.
func (m remembered) state() (memory.State, error) {
	state := memory.State{Summary: m.Summary, Recent: []memory.Exchange{}}
	for _, e := range m.Recent {
		at := replay.Epoch()
		if e.At != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, e.At); err != nil {
				return state, fmt.Errorf("at is %q, write a time such as 2026-01-01T09:00:00Z", e.At)
			}
		}
		state.Recent = append(state.Recent, memory.Exchange{Ask: e.Ask, Answer: e.Answer, At: at, Steps: e.Steps})
	}
	return state, nil
}

// conversationName names a conversation within a sentence.
func conversationName(id string) string {
	if id == "" {
		return "the default one"
	}
	return fmt.Sprintf("%+q", id)
}

func memoryName(id string) string {
	if id == "" {
		return "memory of the default conversation"
	}
	return fmt.Sprintf("memory of %+q", id)
}
