package report

import "encoding/json"

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
	Seconds     float64 `json:"seconds"`
}

// Report implements Format.
func (j *jsonFormat) Report(c Case) {
	j.cases = append(j.cases, jsonCase{
		Name: c.Name, Path: c.Path, Golden: c.Golden, Description: c.Description, Line: c.Line,
		Status: c.Status, Step: c.Step, Message: c.Message, Seconds: c.Seconds,
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
		Skipped   int        `json:"skipped"`
		Seconds   float64    `json:"seconds"`
	}{j.cases, s.Total, s.Passed, s.Failed, s.Differs, s.Updated, s.Skipped, s.Seconds}, "", "  ")
	if err != nil {
		return err
	}
	j.out.printf("%s\n", doc)
	return j.out.err
}
