package agentsim

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

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

// junitReporter writes the XML that build servers read.
type junitReporter struct {
	out   *writer
	cases []junitCase
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Seconds string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Report implements Reporter.
func (j *junitReporter) Report(res Result) {
	c := junitCase{Name: path.Base(res.Location.Name), Class: path.Dir(res.Location.Name), Seconds: fmt.Sprintf("%.3f", res.Duration.Seconds())}
	switch res.Status {
	case Updated:
		c.Failure = &junitFailure{"the golden was written", "wrote " + res.Location.Golden}
	case Failed, Differs:
		c.Failure = &junitFailure{xmlText(headline(res)), xmlText(Explain(res))}
	}
	j.cases = append(j.cases, c)
}

// Finish implements Reporter.
func (j *junitReporter) Finish(s Summary) error {
	doc, err := xml.MarshalIndent(struct {
		XMLName  struct{}    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Seconds  string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}{struct{}{}, "scenarios", s.Total, s.Total - s.Passed, fmt.Sprintf("%.3f", s.Duration.Seconds()), j.cases}, "", "  ")
	if err != nil {
		return err
	}
	j.out.printf("%s%s\n", xml.Header, doc)
	return j.out.err
}

// xmlText replaces what XML cannot hold.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, s)
}

// githubReporter writes annotations beside the text, and the job's summary.
type githubReporter struct {
	text     textReporter
	summary  io.Writer
	failures []Result
}

// maxAnnotations is how many GitHub shows of one step.
const maxAnnotations = 10

// Report implements Reporter.
func (g *githubReporter) Report(res Result) {
	g.text.Report(res)
	if res.Status == Passed {
		return
	}
	g.failures = append(g.failures, res)
	if len(g.failures) > maxAnnotations {
		return
	}
	message := Explain(res)
	if res.Status == Updated {
		message = "its golden was written anew"
	}
	g.text.out.printf("::error file=%s,title=%s::%s\n", property(filepath.ToSlash(res.Location.Path)),
		property("scenario "+res.Location.Name), data(strings.TrimSpace(message)))
}

// Finish implements Reporter.
func (g *githubReporter) Finish(s Summary) error {
	if err := g.text.Finish(s); err != nil || g.summary == nil {
		return err
	}
	out := &writer{w: g.summary}
	out.printf("### Scenarios\n\n%s\n", s)
	for _, res := range g.failures {
		fence := "```"
		for strings.Contains(Explain(res), fence) {
			fence += "`"
		}
		out.printf("\n<details><summary>%s: %s</summary>\n\n%sdiff\n%s%s\n</details>\n", res.Location.Name, res.Status, fence, Explain(res), fence)
	}
	return out.err
}

// data escapes the message of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
