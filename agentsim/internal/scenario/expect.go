package scenario

import (
	"errors"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// Texts are one text or several, all of which must be there, or must not.
type Texts []string

// OneOrMany implements strictyaml.Many.
func (Texts) OneOrMany() {}

// Text is what is expected of a text: exactly this one, or parts.
type Text struct {
	Pos      strictyaml.Pos
	Text     *string `yaml:"text"`
	Contains Texts   `yaml:"contains"`
	Lacks    Texts   `yaml:"lacks"`
}

// SetText implements strictyaml.Short.
func (t *Text) SetText(text string) { t.Text = &text }

// FileText is what is expected of a file: its content, or that there is none.
type FileText struct {
	Pos      strictyaml.Pos
	Text     *string `yaml:"text"`
	Contains Texts   `yaml:"contains"`
	Lacks    Texts   `yaml:"lacks"`
	Absent   bool    `yaml:"absent"`
}

// absent is the word for a file, or a memory, that is not there.
const absent = "absent"

// SetText implements strictyaml.Short. A file that holds just this word, and no
// newline, is written as {text: absent}.
func (f *FileText) SetText(text string) {
	if f.Absent = text == absent; !f.Absent {
		f.Text = &text
	}
}

// Validate implements strictyaml.Validator.
func (f *FileText) Validate() error {
	if f.Absent && (f.Text != nil || f.Contains != nil || f.Lacks != nil) {
		return errors.New("a file that is absent has no text, leave out one of the two")
	}
	return nil
}

// Change is what someone else does to the files before a step. Base.Settle makes
// its texts.
type Change struct {
	Pos    strictyaml.Pos
	Write  map[string]File `yaml:"write"`
	Remove Texts           `yaml:"remove"`
}
