package goliathfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/simtest"
)

// The scenarios that ship, as README shows it to others.
func TestScenarios(t *testing.T) {
	simtest.Run(t, "scenarios", "golden", nil)
}

// Go code in README and docs stands, line by line, in a test file, so that it
// compiles and where it has output is run.
func TestReadmeCodeIsCompiled(t *testing.T) {
	compiled, found := testSources(t), 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "```go\n")[1:] {
			found++
			code, _, _ := strings.Cut(block, "```")
			if !strings.Contains(compiled, unindented(code)) {
				t.Errorf("no test file has this code of %s:\n%s", page, code)
			}
		}
	}
	if found < 3 {
		t.Fatalf("there are %d blocks of Go code, want at least 3", found)
	}
}

// pages are README and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("docs has %d pages: %v", len(docs), err)
	}
	return append(docs, "README.md")
}

// A link in README or docs to a file of this repository leads to one.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range append(pages(t), "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// testSources returns all test files, without indentation.
func testSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		all.WriteString(unindented(string(source)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func unindented(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// What docs/ says a test shows is shown by a test of that name.
func TestDocsNameTests(t *testing.T) {
	sources := testSources(t)
	name := regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range name.FindAllString(string(text), -1) {
			if !strings.Contains(sources, "func "+test+"(") {
				t.Errorf("%s names %s, which is no test", page, test)
			}
		}
	}
}
