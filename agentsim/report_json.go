package agentsim

import "encoding/json"

// jsonReporter writes one JSON document for programs.
type jsonReporter struct {
	out     *writer
	results []jsonResult
}

type jsonResult struct {
	Name        string  `json:"name"`
	Path        string  `json:"path"`
	Golden      string  `json:"golden"`
	Description string  `json:"description,omitempty"`
	Status      Status  `json:"status"`
	Step        string  `json:"step,omitempty"`
	Message     string  `json:"message,omitempty"`
	Seconds     float64 `json:"seconds"`
}

// Report implements Reporter.
func (j *jsonReporter) Report(res Result) {
	j.results = append(j.results, jsonResult{
		Name: res.Location.Name, Path: res.Location.Path, Golden: res.Location.Golden, Description: res.Description,
		Status: res.Status, Step: res.Step, Message: Explain(res), Seconds: res.Duration.Seconds(),
	})
}

// Finish implements Reporter.
func (j *jsonReporter) Finish(s Summary) error {
	doc, err := json.MarshalIndent(struct {
		Scenarios []jsonResult `json:"scenarios"`
		Total     int          `json:"total"`
		Passed    int          `json:"passed"`
		Failed    int          `json:"failed"`
		Differs   int          `json:"differs"`
		Updated   int          `json:"updated"`
		Seconds   float64      `json:"seconds"`
	}{j.results, s.Total, s.Passed, s.Failed, s.Differs, s.Updated, s.Duration.Seconds()}, "", "  ")
	if err != nil {
		return err
	}
	j.out.printf("%s\n", doc)
	return j.out.err
}
