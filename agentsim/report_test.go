package agentsim_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// report gives a reporter one result of each status.
func report(t *testing.T, format string, opts agentsim.ReporterOptions) string {
	t.Helper()
	var out bytes.Buffer
	r, err := agentsim.NewReporter(format, &out, opts)
	if err != nil {
		t.Fatal(err)
	}
	loc := func(name string) agentsim.Location {
		return agentsim.Location{Path: "scenarios/" + name + ".txtar", Name: name, Golden: "golden/" + name + ".txtar"}
	}
	r.Report(agentsim.Result{Location: loc("a/ok"), Status: agentsim.Passed, Steps: []string{"1 glob"}})
	r.Report(agentsim.Result{Location: loc("a/new"), Status: agentsim.Updated})
	r.Report(agentsim.Result{
		Location: loc("b/differs"), Status: agentsim.Differs, Step: "2 grep",
		Difference: &agentsim.Difference{Step: "2 grep", Before: []string{"1 glob"}, Later: 2, Text: "-a <b>\n+100%\n"},
	})
	r.Report(agentsim.Result{Location: loc("b/fails"), Status: agentsim.Failed, Step: "1 glob", Steps: []string{"0", "1 glob"}, Err: errors.New("it \x01 broke")})
	if err := r.Finish(agentsim.Summary{Total: 4, Passed: 1, Failed: 1, Differs: 1, Updated: 1}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const summaryLine = "4 scenarios: 1 passed, 1 failed, 1 differs from its golden, 1 golden written"

func TestTextReport(t *testing.T) {
	got := report(t, "text", agentsim.ReporterOptions{})
	want := `wrote golden/a/new.txtar
FAIL  b/differs (scenarios/b/differs.txtar)
      agree: 1 glob
      differs at "2 grep":
      -a <b>
      +100%
      2 later steps differ too
FAIL  b/fails (scenarios/b/fails.txtar)
      it \u{0001} broke
` + summaryLine + "\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if verbose := report(t, "text", agentsim.ReporterOptions{Verbose: true}); !strings.HasPrefix(verbose, "ok    a/ok\n        1 glob\n") {
		t.Errorf("verbose is\n%s", verbose)
	}
}

func TestJSONReport(t *testing.T) {
	var got struct {
		Scenarios []struct{ Name, Path, Golden, Status, Step, Message string }
		Total     int
		Differs   int
	}
	if err := json.Unmarshal([]byte(report(t, "json", agentsim.ReporterOptions{})), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Scenarios) != 4 || got.Total != 4 || got.Differs != 1 || got.Scenarios[2].Step != "2 grep" || !strings.Contains(got.Scenarios[2].Message, "+100%") {
		t.Errorf("got %+v", got)
	}
}

func TestJUnitReport(t *testing.T) {
	text := report(t, "junit", agentsim.ReporterOptions{})
	var got struct {
		XMLName  xml.Name `xml:"testsuite"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Class   string `xml:"classname,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got.Tests != 4 || got.Failures != 3 || got.Cases[0].Failure != nil || got.Cases[2].Class != "b" || got.Cases[2].Name != "differs" ||
		!strings.Contains(got.Cases[2].Failure.Text, "-a <b>") || !strings.Contains(got.Cases[3].Failure.Message, `it \u{0001} broke`) {
		t.Errorf("got %+v\nof\n%s", got, text)
	}
}

func TestGitHubReport(t *testing.T) {
	var summary bytes.Buffer
	got := report(t, "github", agentsim.ReporterOptions{StepSummary: &summary})
	for _, want := range []string{
		"::error file=scenarios/a/new.txtar,title=scenario a/new::its golden was written anew\n",
		"::error file=scenarios/b/differs.txtar,title=scenario b/differs::agree: 1 glob%0Adiffers at \"2 grep\":%0A-a <b>%0A+100%25%0A2 later steps differ too\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if s := summary.String(); !strings.Contains(s, summaryLine) || !strings.Contains(s, "<summary>b/differs: differs</summary>") || !strings.Contains(s, "+100%\n") {
		t.Errorf("the summary is\n%s", s)
	}

	var large bytes.Buffer
	many, err := agentsim.NewReporter("github", io.Discard, agentsim.ReporterOptions{StepSummary: &large})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		many.Report(agentsim.Result{Status: agentsim.Failed, Err: errors.New(strings.Repeat("x", 100_000))})
	}
	if err := many.Finish(agentsim.Summary{}); err != nil || large.Len() > 1<<20 || !strings.Contains(large.String(), "The log tells of 11 more.") {
		t.Errorf("a summary of %d bytes, where GitHub takes 1 MiB, %v", large.Len(), err)
	}

	var out bytes.Buffer
	r, err := agentsim.NewReporter("github", &out, agentsim.ReporterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		r.Report(agentsim.Result{Location: agentsim.Location{Name: fmt.Sprint(i)}, Status: agentsim.Failed, Err: errors.New("x")})
	}
	_, err = agentsim.Parse("scenarios/a/s.txtar", "a/s", []byte("-- scenario.yaml --\nversion: 3\n"))
	typo := agentsim.Result{Location: agentsim.Location{Path: "scenarios/a/s.txtar", Name: "a/s"}, Status: agentsim.Failed, Err: err}
	var one bytes.Buffer
	first, err := agentsim.NewReporter("github", &one, agentsim.ReporterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if first.Report(typo); !strings.Contains(one.String(), "::error file=scenarios/a/s.txtar,line=2,title=scenario a/s::") {
		t.Errorf("the place is not in\n%s", one.String())
	}
	if n := strings.Count(out.String(), "::error"); n != 10 {
		t.Errorf("%d annotations, GitHub shows 10", n)
	}
}

// What files, models and names say is no command to the service that reads the
// log, in whatever format it is told.
func TestContentIsNoCommand(t *testing.T) {
	const evil = "::stop-commands::x\n  ::add-mask::y\n a ##[error]z\n##vso[task.x]w\n\x1b]0;t\x07"
	for _, format := range agentsim.Formats() {
		var out bytes.Buffer
		r, err := agentsim.NewReporter(format, &out, agentsim.ReporterOptions{GitHubLog: true, Verbose: true, Hint: "hint"})
		if err != nil {
			t.Fatal(err)
		}
		loc := agentsim.Location{Path: "s/a\n::error::b.txtar", Name: "a\n::error::b", Golden: "g/a\n::error::b.txtar"}
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Failed, Err: errors.New(evil), Description: evil})
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Passed, Steps: []string{evil}})
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Skipped, Err: errors.New(evil)})
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Updated})
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Removed})
		r.Report(agentsim.Result{Location: loc, Status: agentsim.Differs, Difference: &agentsim.Difference{Step: evil, Text: evil, Before: []string{evil}}})
		if err := r.Finish(agentsim.Summary{Total: 6}); err != nil {
			t.Fatal(err)
		}
		if bad := obeyed(out.String()); len(bad) > 0 || strings.ContainsAny(out.String(), "\x1b\x07") {
			t.Errorf("%s: the service obeys %q of\n%s", format, bad, out.String())
		}
	}
}

// obeyed returns the lines of a log that GitHub Actions, or a service like it,
// would take for commands, but for annotations of the reporter.
func obeyed(log string) []string {
	var lines []string
	token := ""
	for line := range strings.Lines(log) {
		trimmed := strings.TrimSpace(line)
		resumed, isStop := strings.CutPrefix(trimmed, "::stop-commands::")
		switch {
		case token != "" && trimmed == "::"+token+"::":
			token = ""
		case strings.Contains(line, "##[") || strings.Contains(line, "##vso["):
			lines = append(lines, line)
		case token != "":
		case isStop && len(resumed) > 20:
			token = resumed
		case strings.HasPrefix(trimmed, "::error file=s/a%0A%3A%3Aerror%3A%3Ab.txtar,title=scenario a%0A"):
		case strings.HasPrefix(trimmed, "::"):
			lines = append(lines, line)
		}
	}
	if token != "" {
		lines = append(lines, "nothing, for commands are never on again")
	}
	return lines
}

// Annotations name files below the workspace, and the line of the step that
// failed or differs.
func TestAnnotationsFindTheLine(t *testing.T) {
	workspace := t.TempDir()
	dir := filepath.Join(workspace, "sub")
	text := scenario("calls:\n  - {tool: glob, input: {pattern: /x}}\n  - {tool: readFile, input: {path: /a}}", "/a", "x\n")
	for name, data := range map[string]string{
		"scenarios/differs.txtar": text,
		"golden/differs.txtar":    strings.ReplaceAll(replay(t, text), "\nx\n", "\ny\n"),
		"scenarios/fails.txtar":   strings.Replace(text, "path: /a", "path: /b", 1),
		"scenarios/new.txtar":     text,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out bytes.Buffer
	r, err := agentsim.NewReporter("github", &out, agentsim.ReporterOptions{Workspace: workspace})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&agentsim.Runner{Reporter: r}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"::error file=sub/scenarios/differs.txtar,line=7,title=scenario differs::",
		"::error file=sub/scenarios/fails.txtar,line=7,title=scenario fails::",
		"::error file=sub/scenarios/new.txtar,title=scenario new::",
	} {
		if !strings.Contains(out.String(), "\n"+want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestExplainCountsLaterSteps(t *testing.T) {
	for later, want := range map[int]string{0: "-a\n", 1: "-a\n1 later step differs too\n", 2: "-a\n2 later steps differ too\n"} {
		got := agentsim.Explain(agentsim.Result{Difference: &agentsim.Difference{Step: "1 glob", Later: later, Text: "-a\n"}})
		if got, ok := strings.CutPrefix(got, "differs at \"1 glob\":\n"); !ok || !strings.HasPrefix(got, want) || later == 0 && got != want {
			t.Errorf("%d later steps: %q", later, got)
		}
	}
}

func TestReportErrors(t *testing.T) {
	if _, err := agentsim.NewReporter("yaml", nil, agentsim.ReporterOptions{}); err == nil || !strings.Contains(err.Error(), "text, json, junit, github") {
		t.Errorf("an unknown format gave %v", err)
	}
	for _, format := range agentsim.Formats() {
		r, err := agentsim.NewReporter(format, full{}, agentsim.ReporterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r.Report(agentsim.Result{Status: agentsim.Failed, Err: errors.New("x")})
		if err := r.Finish(agentsim.Summary{}); err == nil || err.Error() != "no space" {
			t.Errorf("%s on a full disk gave %v", format, err)
		}
	}
}
