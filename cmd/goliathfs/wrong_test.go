//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// rightWords is how each verb is written rightly in the folder that TestWrongUse
// makes. Verbs that go on until they are interrupted have a store that is not there.
var rightWords = map[string][]string{
	"backup":     {"badger:s", "new.backup"},
	"call":       {"--store", "badger:s", "readFile", `{"path":"/a.md"}`},
	"cat":        {"badger:s", "/a.md"},
	"check":      {"badger:s"},
	"compact":    {"badger:s"},
	"completion": {"bash"},
	"cp":         {"sqlite:d.db", "/none.md", "/new.md"},
	"copy":       {"badger:s", "dir:copied"},
	"demo":       {"--nope"}, // else it runs in full
	"diff":       {"badger:s", "sqlite:d.db"},
	"doctor":     {"badger:s"},
	"edit":       {"sqlite:d.db", "/none.md"},
	"find":       {"badger:s", "/*.md"},
	"grep":       {"x", "badger:s"},
	"help":       {"ls"},
	"import":     {"session.jsonl"},
	"index":      {"badger:s"},
	"journal":    {"badger:none", "--to", "new.journal"},
	"log":        {"a.journal"},
	"ls":         {"badger:s"},
	"mcp":        {"badger:none"},
	"memory":     {"badger:s"},
	"model":      {"none.txtar"},
	"mv":         {"sqlite:d.db", "/none.md", "/new.md"},
	"mount":      {"badger:none", "mnt"},
	"mounts":     {},
	"namespaces": {"badger:s"},
	"record":     {"--to", "nowhere:", "--", "true"},
	"relay":      {"127.0.0.1:1"},
	"replay":     {"scenarios"},
	"restore":    {"none.backup", "badger:none"},
	"rm":         {"sqlite:d.db", "/none.md"},
	"schema":     {"postgres:///x"},
	"serve":      {"badger:none", "--socket", "sock"},
	"stat":       {"badger:s", "/a.md"},
	"stats":      {"badger:s"},
	"tree":       {"badger:s"},
	"unmount":    {"mnt"},
	"watch":      {"badger:none"},
	"write":      {"sqlite:d.db", "/new.md"},
}

// The wrong things that stand in the place of a store, of a file, of a number, or
// anywhere. Of what a name may hold, control characters and what is no text.
var (
	wrongStores = []string{
		"nosuch:x", "badger:", "badger:none", "badger:s/none/deeper", "badger:file", "badger:s?namespace=", "badger:s?nope=1", "badger:s?mode=rw",
		"sqlite:none.db", "sqlite:file", "sqlite:folder", "sqlite:d.db?mode=x", "unix:none", "unix:file", "tcp:example.com:1", "tcp:127.0.0.1:1?token-file=none",
		"tcp:127.0.0.1:1?token-file=folder", "tcp:127.0.0.1:1?token-file=file", "static:none", "static:broken.json", "static:file/x", "static:pipe", "mem:?x=1",
		"dir:none", "dir:file", "backup:none", "backup:file", "backup:folder", "backup:pipe", "backup:loop", "journal:none", "journal:file", "journal:folder", "journal:pipe", "journal:a.journal@", "journal:a.journal@none", "journal:a.journal@2001-01-01", "journal:a.journal@1:x", "badger:none?namespace=*", "golden:none", "golden:folder", "golden:pipe", "postgres://127.0.0.1:1/x", "s",
	}
	wrongFiles   = []string{"none", "none/deeper", "folder", "file", "file/deeper", "pipe", "unreadable", "loop", "/proc/self/mem", strings.Repeat("x", 300)}
	wrongNumbers = []string{"x", "-1", "99999999999999999999", "1.5", "0x10", "1_0"}
	wrongTexts   = []string{"", "\x1b[31mred", "a\nb", "\u202eabc", "\u0085", "\xff", "'", "/dev/null/../x", "relative", "/dev/null/\x07", "--", "-Z", "--nope"}
)

// TestWrongUse gives every verb what is wrong, in every place: each ends by itself,
// with status 0, 1 or 2, and what it refuses is one sentence of its own, without a
// control character and without the words of the system alone.
func TestWrongUse(t *testing.T) {
	tried := 0
	for _, verb := range everyVerb() {
		t.Run(verb.Name(), func(t *testing.T) {
			makeWrongPlace(t)
			for i, words := range wrongUses(t, verb) {
				if i%testsize.Pick(3, 3, 1) != 0 {
					continue
				}
				tried++
				if why, said := tryWrong(t, append([]string{verb.Name()}, words...)); len(why) > 0 {
					t.Errorf("goliathfs %s %q: %s\n%q", verb.Name(), words, strings.Join(why, ", "), said)
				}
			}
		})
	}
	if tried < 300 {
		t.Errorf("%d wrong uses are too few to mean much", tried)
	}
}

func everyVerb() []*cobra.Command {
	root := newRoot()
	root.InitDefaultHelpCmd()
	return root.Commands()
}

// TestHelpIsNarrow: a line of help fits a terminal of a hundred columns.
func TestHelpIsNarrow(t *testing.T) {
	for _, verb := range append(everyVerb(), newRoot()) {
		var text bytes.Buffer
		verb.SetOut(&text)
		if err := verb.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%s: a line of %d columns: %s", verb.Name(), n, line)
			}
		}
	}
}

// makeWrongPlace makes a folder of stores and of things that are none, and goes there.
func makeWrongPlace(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("VISUAL", "true") // which changes nothing
	for name, content := range map[string]string{
		"file": "x", "broken.json": "{", "unreadable": "x", "session.jsonl": "{}\n", "folder/x": "x",
		"scenarios/one.txtar": "-- scenario.yaml --\nversion: 9\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Chmod("unreadable", 0), syscall.Mkfifo("pipe", 0o600), os.Symlink("loop", "loop")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, store := range []string{"badger:s", "sqlite:d.db"} {
		if status, said := runHere(t.Context(), []string{"write", store, "/a.md"}, "text"); status != exitDone {
			t.Fatal(said)
		}
	}
}

// wrongUses are what to write behind a verb.
func wrongUses(t *testing.T, verb *cobra.Command) [][]string {
	right, ok := rightWords[verb.Name()]
	if !ok {
		t.Fatalf("say in rightWords how %s is written", verb.Name())
	}
	uses := [][]string{append(slices.Clone(right), "b", "c", "d", "e", "f", "g")}
	if verb.Name() != "demo" && verb.Name() != "mounts" {
		uses = append(uses, nil)
	}
	for i := range right {
		if right[i] == "true" {
			continue // a program to run
		}
		wrongs := slices.Concat(wrongFiles, wrongTexts)
		if strings.Contains(right[i], ":") {
			wrongs = slices.Concat(wrongStores, wrongTexts)
		}
		for _, wrong := range wrongs {
			if verb.Name() == "demo" && wrong == "--" || verb.Name() == "import" && wrong == "pipe" {
				continue // that is right, and the pipe may have a writer some day
			}
			use := slices.Clone(right)
			use[i] = wrong
			uses = append(uses, use)
		}
	}
	var flags []*pflag.Flag
	verb.InitDefaultHelpFlag()
	verb.Flags().VisitAll(func(f *pflag.Flag) {
		// detach would run this program, the test, and doctor --fix --yes mend mounts of others.
		if f.Name != "help" && f.Name != "detach" && f.Name != "yes" {
			flags = append(flags, f)
		}
	})
	for i, f := range flags {
		for _, wrong := range wrongValues(f) {
			uses = append(uses, append([]string{"--" + f.Name + "=" + wrong}, right...))
		}
		for _, other := range flags[i+1:] {
			uses = append(uses, append([]string{someValue(f), someValue(other)}, right...))
		}
	}
	return uses
}

// wrongValues are what a flag is given that it cannot mean.
func wrongValues(f *pflag.Flag) []string {
	if f.Value.Type() == "bool" {
		return []string{"maybe", "", "\x1b[31m"}
	}
	switch of, _ := pflag.UnquoteUsage(f); of {
	case "file", "directory", "path":
		return slices.Concat(wrongFiles, wrongTexts)
	case "URL", "/prefix=URL[,ro]":
		return slices.Concat(wrongStores, wrongTexts, []string{"/x=badger:none", "/x=badger:s", "/=mem:", "x=mem:"})
	}
	return slices.Concat(wrongNumbers, wrongTexts)
}

// someValue is a flag with a value that it may have.
func someValue(f *pflag.Flag) string {
	switch {
	case f.Value.Type() == "bool":
		return "--" + f.Name
	case f.DefValue != "" && f.DefValue != "[]":
		return "--" + f.Name + "=" + f.DefValue
	}
	return "--" + f.Name + "=value"
}

var (
	// answersByStatus are the verbs whose answer may be status 1, with all there is to
	// say on standard output: what a model sees, what differs, what was not found.
	answersByStatus = []string{"call", "check", "diff", "doctor", "find", "grep", "replay"}
	// doSeveral are the verbs that have a sentence for each of their arguments.
	doSeveral = []string{"cat", "import", "ls", "stat", "unmount"}
)

// systemWords are the beginning of an error as the system gives it, which says
// neither what was wanted nor what to do.
var systemWords = regexp.MustCompile(`: (open|stat|lstat|read|mkdir|readlink|openat|fork/exec|dial) [^:]*: `)

// tryWrong runs a wrong use and returns what is wrong with how it ends.
func tryWrong(t *testing.T, words []string) (why []string, said string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type end struct {
		status int
		said   string
	}
	ended := make(chan end, 1)
	go func() {
		status, said := runHere(ctx, words, "")
		ended <- end{status, said}
	}()
	var got end
	select {
	case got = <-ended:
	case <-time.After(time.Minute): // only a use that hangs comes here
		t.Fatalf("goliathfs %q does not end", words)
	}
	said = got.said
	if !slices.Contains([]int{exitDone, exitRefused, exitUsage}, got.status) {
		why = append(why, fmt.Sprintf("exit status %d", got.status))
	}
	if strings.ContainsFunc(strings.ReplaceAll(said, "\n", ""), visible.Hidden) {
		why = append(why, "a control character")
	}
	if strings.Contains(said, "goroutine ") {
		why = append(why, "a panic")
	}
	if systemWords.MatchString(said) {
		why = append(why, "the words of the system")
	}
	if got.status == exitDone || said == "" && slices.Contains(answersByStatus, words[0]) {
		return why, said
	}
	lines := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
	if last := lines[len(lines)-1]; !regexp.MustCompile(`^goliathfs ` + words[0] + `( bash)?: `).MatchString(last) {
		why = append(why, "the last line is no sentence of the verb")
	}
	if n := strings.Count("\n"+said, "\ngoliathfs "); n != 1 && !slices.Contains(doSeveral, words[0]) {
		why = append(why, fmt.Sprintf("%d sentences", n))
	}
	return why, said
}

// runHere runs the command in this process and returns what a process of its own
// would end with, and what it says on standard error.
func runHere(ctx context.Context, words []string, in string) (status int, said string) {
	var out, errout bytes.Buffer
	defer func() {
		if p := recover(); p != nil {
			status, said = -1, fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	root := newRoot()
	root.SetArgs(words)
	root.SetIn(strings.NewReader(in))
	screen := visible.NewWriter(&errout)
	root.SetOut(&out)
	root.SetErr(screen)
	cmd, err := root.ExecuteContextC(ctx)
	status = report(screen, cmd.CommandPath(), err)
	if err := screen.Flush(); err != nil {
		return -1, err.Error()
	}
	return status, errout.String()
}
