package report

import (
	"bytes"
	"encoding/json"
)

// jsonFormat writes one JSON document for programs.
type jsonFormat struct {
	out   *writer
	cases []jsonCase
}

type jsonCase struct {
	Name        string  `json:"name"`
	Path        string  `json:"path"`
	Line        int     `json:"line,omitempty"`
	Golden      string  `json:"golden"`
	Description string  `json:"description,omitempty"`
	Status      Status  `json:"status"`
	Step        string  `json:"step,omitempty"`
	Message     string  `json:"message,omitempty"`
	Transcript  string  `json:"transcript,omitempty"`
	Seconds     float64 `json:"seconds"`
}

// Report implements Format.
func (j *jsonFormat) Report(c Case) {
	j.cases = append(j.cases, jsonCase{
		Name: c.Name, Path: c.Path, Golden: c.Golden, Description: c.Description, Line: c.Line,
		Status: c.Status, Step: c.Step, Message: c.Message, Transcript: c.Transcript, Seconds: c.Seconds,
	})
}

// Finish implements Format.
func (j *jsonFormat) Finish(s Totals) error {
	doc, err := json.MarshalIndent(struct {
		Scenarios []jsonCase `json:"scenarios"`
		Total     int        `json:"total"`
		Passed    int        `json:"passed"`
		Failed    int        `json:"failed"`
		Differs   int        `json:"differs"`
		Updated   int        `json:"updated"`
		Removed   int        `json:"removed"`
		Skipped   int        `json:"skipped"`
		Left      int        `json:"notReplayed"`
		Seconds   float64    `json:"seconds"`
	}{j.cases, s.Total, s.Passed, s.Failed, s.Differs, s.Updated, s.Removed, s.Skipped, s.Left, s.Seconds}, "", "  ")
	if err != nil {
		return err
	}
	// Between quotes this is the same to every reader, and to a build service that
	// looks for ##[ in its log it is nothing.
	j.out.printf("%s\n", bytes.ReplaceAll(doc, []byte("##"), []byte(`#\u0023`)))
	return j.out.err
}
