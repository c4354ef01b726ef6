package goliathfs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// evidence finds, in a cell of a table, a package in quotes, or a test of it.
var evidence = regexp.MustCompile("`([a-z][a-z0-9/]*)`" + `|\b((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(?:/([a-z]+))?|testdata/script/([a-z]+)\.txtar`)

// TestEvidence: each test that the pages on security and on what survives name for what
// they claim is there, in the package that they name.
func TestEvidence(t *testing.T) {
	for page, pattern := range map[string]string{"security.md": `(?m)^\|.*\|([^|]+)\|$`, "what-survives.md": `(?m)^\|.*\|([^|]+)\|$|\(([^()]*Test[^()]*)\)`} {
		text, err := os.ReadFile(filepath.Join("docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, row := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			pkg := ""
			for _, m := range evidence.FindAllStringSubmatch(strings.Join(row[1:], " "), -1) {
				switch {
				case m[1] != "":
					if info, err := os.Stat(m[1]); err == nil && info.IsDir() { // else it is a word of the text
						pkg = m[1]
					}
					continue
				case m[2] != "" && !hasTest(t, pkg, m[2]):
					t.Errorf("docs/%s names %s in %q, which has no such test", page, m[2], pkg)
				case m[3] != "" || m[4] != "":
					if _, err := os.Stat(path.Join(pkg, "testdata/script", m[3]+m[4]+".txtar")); err != nil {
						t.Errorf("docs/%s names a script that is not there: %v", page, err)
					}
				}
				found++
			}
		}
		if found < 20 {
			t.Errorf("docs/%s names %d tests, so it is not read as it is written", page, found)
		}
	}
}

func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
