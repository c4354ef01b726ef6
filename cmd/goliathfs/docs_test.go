package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/commandline"
)

var (
	fence   = regexp.MustCompile("(?ms)^```(?:sh)?\n(.*?)^```$")
	inline  = regexp.MustCompile("`(goliathfs [^`]*)`")
	command = regexp.MustCompile(`(?:^|[ (/])goliathfs (.*)`)
	another = regexp.MustCompile(` (?:[|<>]|&&|& |#) ?|\s+#|\)(?: |$)|…$`)
)

// Every command in README and docs is one: its verb, its flags and the number of its
// arguments are right. What stands within a sentence may lack the arguments.
func TestDocsCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("docs has %d pages: %v", len(pages), err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[1]) {
				for _, part := range another.Split(strings.TrimSpace(line), -1) {
					if m := command.FindStringSubmatch(part); m != nil {
						found++
						checkCommand(t, page, m[1], true)
					}
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			found++
			checkCommand(t, page, strings.TrimPrefix(another.Split(m[1], 2)[0], "goliathfs "), false)
		}
	}
	if found < 80 {
		t.Errorf("docs have %d commands, so they are not read as they are written", found)
	}
}

func checkCommand(t *testing.T, page, text string, whole bool) {
	t.Helper()
	if strings.HasPrefix(text, `\`) { // the end of a line of another command, which names the package
		return
	}
	words := commandline.Parse(text, "").Words
	root := newRoot()
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(words)
	if err == nil && !cmd.HasParent() && !strings.HasPrefix(words[0], "-") {
		err = unknownVerb(cmd, words[0])
	}
	if err == nil && !cmd.DisableFlagParsing {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && whole && !strings.Contains(text, "@") { // a journal is looked for
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: goliathfs %s: %v", page, text, err)
	}
}
