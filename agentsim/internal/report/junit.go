package report

import (
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// junit writes the XML that build servers read.
type junit struct {
	out   *writer
	cases []junitCase
}

type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	Seconds string     `xml:"time,attr"`
	Failure *junitNote `xml:"failure,omitempty"`
	Skipped *junitNote `xml:"skipped,omitempty"`
	Output  string     `xml:"system-out,omitempty"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Report implements Format.
func (j *junit) Report(c Case) {
	jc := junitCase{Name: path.Base(c.Name), Class: path.Dir(c.Name), Seconds: fmt.Sprintf("%.3f", c.Seconds), Output: xmlText(c.Transcript)}
	switch c.Status {
	case Updated:
		jc.Failure = &junitNote{"the golden was written", "wrote " + c.Golden}
	case Removed:
		jc.Failure = &junitNote{"the golden was removed", "removed " + c.Golden}
	case Failed, Differs:
		jc.Failure = &junitNote{xmlText(c.Headline), xmlText(c.Message)}
	case Skipped:
		jc.Skipped = &junitNote{xmlText(c.Headline), xmlText(c.Message)}
	}
	j.cases = append(j.cases, jc)
}

// Finish implements Format.
func (j *junit) Finish(s Totals) error {
	doc, err := xml.MarshalIndent(struct {
		XMLName  struct{}    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Seconds  string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}{struct{}{}, "scenarios", s.Total, s.Total - s.Passed - s.Skipped, s.Skipped, fmt.Sprintf("%.3f", s.Seconds), j.cases}, "", "  ")
	if err != nil {
		return err
	}
	// References are the same to every reader, and no command to a build service
	// that looks for one in its log.
	j.out.printf("%s%s\n", xml.Header, strings.NewReplacer("##", "#&#35;", "::", ":&#58;").Replace(string(doc)))
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
