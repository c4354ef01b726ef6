package agentsim

import (
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

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
