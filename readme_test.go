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

// Go code in README stands, line by line, in a test file, so that it compiles
// and where it has output is run.
func TestReadmeCodeIsCompiled(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled := testSources(t)
	blocks := strings.Split(string(readme), "```go\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("README has %d blocks of Go code, want at least 3", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(compiled, unindented(code)) {
			t.Errorf("no test file has this code of README:\n%s", code)
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
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("docs has %d pages: %v", len(pages), err)
	}
	for _, page := range append(pages, "README.md") {
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
