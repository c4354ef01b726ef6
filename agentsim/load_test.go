package agentsim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
)

func TestScenarioErrors(t *testing.T) {
	for _, tt := range []struct{ text, place, message string }{
		{"no yaml\n", "s.txtar:1:1", `there is no scenario.yaml`},
		{"-- scenario.yaml --\n" + look, "s.txtar:2:1", "version: 1"},
		{"-- scenario.yaml --\nversion: 2\n" + look, "s.txtar:2:1", "version 2 is not known"},
		{"-- scenario.yaml --\n" + look, "s.txtar:2:1", "version: 1"},
		{"d\n\n-- scenario.yaml --\nversion: 1\nbudget: {}\n" + look, "s.txtar:5:1", "allowed are version, window, tokenizer, budgets,"},
		{scenario("turn: []"), "s.txtar:5:1", "turns, calls"},
		{scenario("window: 5"), "s.txtar:4:1", "one of turns and calls, this has none"},
		{scenario(look + "\nturns: [{ask: hi}]"), "s.txtar:4:1", "this has turns and calls: make it 2"},
		{scenario("window: 0\n" + look), "s.txtar:4:1", "window 0"},
		{scenario("maxSteps: 0\nturns: [{ask: hi}]"), "s.txtar:4:1", "maxSteps 0"},
		{scenario("memory: {}\n" + look), "s.txtar:5:1", "memory belongs to a scenario with turns"},
		{scenario("turns: []"), "s.txtar:4:1", "lists no turn"},
		{scenario("calls: []"), "s.txtar:4:1", "lists no call"},
		{scenario(look + "\nturns: []"), "s.txtar:4:1", "this has turns and calls"},
		{scenario("budgets: {retrievedContextTokens: 5}\n" + look), "s.txtar:4:1", "use turns"},
		{scenario("budgets: {toolResultTokens: -1}\n" + look), "s.txtar:4:1", "at least 1 token"},
		{scenario("budgets: {retrievedContextTokens: 0}\nturns: [{ask: hi}]"), "s.txtar:4:1", "at least 1 token"},
		{scenario("calls: [{input: {}}]"), "s.txtar:5:10", "name of a tool"},
		{scenario("calls: [{tool: glob, pages: some}]"), "s.txtar:5:29", "allowed are all"},
		{scenario("calls: [{tool: glob, expect: {error: gone}}]"), "s.txtar:5:38", "allowed are not-found, conflict"},
		{scenario("turns: [{ask: ' '}]"), "s.txtar:5:10", "needs an ask"},
		{scenario("turns: [{ask: hi, model: [{text: a, json: {}}]}]"), "s.txtar:5:28", "one of text, json"},
		{scenario("turns: [{ask: hi, model: [{error: {kind: bad}}]}]"), "s.txtar:5:42", "allowed are provider, guardrail, malformed"},
		{scenario("turns: [{ask: hi, approvals: [{tool: x, answer: maybe}]}]"), "s.txtar:5:49", "allowed are yes, no"},
		{scenario("turns: [{ask: hi, approvals: [{tool: x, answer: true}]}]"), "s.txtar:5:49", "true is not a value that is known here; allowed are yes, no"},
		{scenario("turns: [{ask: hi, expect: {handledBy: me}}]"), "s.txtar:5:39", "allowed are device, cloud"},
		{scenario("turns: [{ask: hi, fallback: [{}]}]"), "s.txtar:5:30", "either a text or an error"},
		{scenario("stores: {default: {store: disk}}\n" + look), "s.txtar:5:27", "allowed are memory, static, failing"},
		{scenario("stores: {default: {error: store}}\n" + look), "s.txtar:5:20", "store: failing"},
		{scenario("files: {/a: {}}\n" + look), "s.txtar:5:13", "either text, or repeat"},
		{scenario("files: {/a: {repeat: x}}\n" + look), "s.txtar:5:14", "a count of 1"},
		{scenario("files: {/a: {text: x, count: 2}}\n" + look), "s.txtar:5:14", "belongs to repeat"},
		{scenario("files: {a: {text: x}}\n" + look), "s.txtar:5:13", "must start with /"},
		{scenario("files: {/a: {repeat: '0123456789', count: 999999999}}\n" + look), "s.txtar:5:14", "too large"},
		{scenario("files: {/a: {repeat: x, count: 1048577}}\n" + look), "s.txtar:5:14", "too large"},
		{scenario("files: {/a: {text: x}}\n"+look, "/a", "y\n"), "s.txtar:5:14", "given twice"},
		{scenario(look, "/../a", "y\n"), "s.txtar:6:1", "cannot be stored"},
		{scenario(look, "/a", "\xff\n"), "s.txtar:6:1", "not valid UTF-8"},
		{scenario(look) + "-- file/a --\n", "s.txtar:6:1", `allowed are scenario.yaml and files/`},
		{scenario(look) + "-- scenario.yaml --\n", "s.txtar:6:1", "twice"},
		{scenario("memory: {a: {raw: x, summary: y}}\nturns: [{ask: hi}]"), "s.txtar:5:14", "raw is the whole"},
	} {
		_, err := agentsim.Parse("s.txtar", "s", []byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.place+": ") || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%q:\n%v\nwant %s and %q", tt.text, err, tt.place, tt.message)
		}
	}
}

// Some mistakes show only when the scenario is put together.
func TestScenarioErrorsOfReplay(t *testing.T) {
	for _, tt := range []struct{ text, message string }{
		{scenario("stores: {routes: {docs: {}}}\n" + look), "the route \"docs\" is refused"},
		{scenario("stores: {routes: {/docs: {}, /docs/: {}}}\n" + look), "given twice"},
		{scenario("stores: {routes: {/docs: {}}}\n"+look, "/docs", "x\n"), "exactly at a route"},
		{scenario("filesystem: {tools: [writeFile]}\n" + look), "changes files"},
		{scenario("filesystem: {tools: [find]}\n" + look), "not one of"},
		{scenario("filesystem: {read: {maxLines: 1001}}\n" + look), "1 to 1000"},
		{scenario("filesystem: {tools: []}\n" + look), "no tools to call"},
		{scenario("budgets: {toolResultTokens: 900, retrievedContextTokens: 800}\nturns: [{ask: hi}]"), "lower it"},
		{scenario("memory: {' ': {}}\nturns: [{ask: hi, conversation: ' '}]"), "blank"},
		{scenario("memory: {a: {recent: [{at: noon}]}}\nturns: [{ask: hi, conversation: a}]"), "2026-01-01T"},
		{scenario("turns: [{ask: hi, conversation: ' '}]"), "blank"},
	} {
		tr, err := agentsim.Replay(t.Context(), parse(t, tt.text), nil)
		if err == nil || !strings.Contains(err.Error(), tt.message) || tr == nil {
			t.Errorf("%q: %v; want %q", tt.text, err, tt.message)
		}
	}
}

// Some editors begin a file with U+FEFF, which is no part of it.
func TestByteOrderMark(t *testing.T) {
	text := strings.TrimPrefix(scenario(look), "What it shows.\n\n")
	if got, want := replay(t, "\ufeff"+text), replay(t, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := replay(t, strings.Replace(text, "version", "\ufeffversion", 1)), replay(t, text); got != want {
		t.Errorf("in the YAML: got\n%s\nwant\n%s", got, want)
	}
	golden := replay(t, text)
	if d, err := agentsim.Compare([]byte("\ufeff"+golden), []byte(golden)); d != nil || err != nil {
		t.Errorf("a golden after a mark differs: %+v, %v", d, err)
	}
	if _, err := agentsim.GoldenFiles([]byte("\ufeff" + golden)); err != nil {
		t.Errorf("a golden after a mark is none: %v", err)
	}
	dir := tree(t, map[string]string{"a.txtar": "\ufeff" + text, "golden/a.txtar": "\ufeff" + text})
	if got := (&agentsim.Runner{Update: true}).RunOne(t.Context(), agentsim.Location{Path: filepath.Join(dir, "a.txtar"), Name: "a", Golden: filepath.Join(dir, "golden/a.txtar")}); got.Status != agentsim.Failed {
		t.Errorf("a scenario after a mark was written over: %+v", got)
	}
}

// A checkout that turned every line to CRLF reads as it was written; where only
// a seed has CRLF, the seed means it.
func TestCheckoutWithCRLF(t *testing.T) {
	text := scenario(look, "/a.txt", "one\ntwo\n")
	want := replay(t, text)
	if got := replay(t, strings.ReplaceAll(text, "\n", "\r\n")); got != want {
		t.Errorf("with CRLF it shows\n%s\nwant\n%s", got, want)
	}
	if got := replay(t, scenario(look, "/a.txt", "one\r\ntwo\r\n")); !strings.Contains(got, ">one\\r\n>two\\r\n") {
		t.Errorf("the seed lost its CR:\n%s", got)
	}
}

func TestRepeatedSeed(t *testing.T) {
	if got := replay(t, scenario("files: {/log: {repeat: x, count: 1048576}}\n"+look)); !strings.Contains(got, "As it was seeded: 1048576 bytes.") {
		t.Errorf("the largest file that a store takes gave\n%s", got)
	}
	got := replay(t, scenario(`files: {/log: {repeat: "line {n} of {n}\n", count: 3}}`+"\n"+look))
	if !strings.Contains(got, "-- file /log --\nline 1 of 1\nline 2 of 2\nline 3 of 3\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestFind(t *testing.T) {
	dir := tree(t, map[string]string{
		"scenarios/a/one.txtar": "", "scenarios/b/two.txtar": "", "scenarios/b/readme.md": "", "golden/a/one.txtar": "",
		"loose/x.txtar": "", "loose/deep/y.txtar": "", "empty/readme.md": "",
	})
	find := func(golden string, paths ...string) []string {
		t.Helper()
		for i := range paths {
			paths[i] = filepath.Join(dir, paths[i])
		}
		locs, err := agentsim.Find(golden, paths...)
		if err != nil {
			return []string{"error: " + strings.ReplaceAll(err.Error(), dir, "")}
		}
		var got []string
		for _, l := range locs {
			rel, err := filepath.Rel(dir, l.Golden)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Name+" "+filepath.ToSlash(rel))
		}
		return got
	}
	for name, tt := range map[string]struct{ got, want []string }{
		"all":          {find("", "scenarios"), []string{"a/one golden/a/one.txtar", "b/two golden/b/two.txtar"}},
		"an area":      {find("", "scenarios/b"), []string{"b/two golden/b/two.txtar"}},
		"a file":       {find("", "scenarios/b/two.txtar"), []string{"b/two golden/b/two.txtar"}},
		"twice":        {find("", "scenarios/b/two.txtar", "scenarios"), []string{"a/one golden/a/one.txtar", "b/two golden/b/two.txtar"}},
		"loose":        {find(filepath.Join(dir, "g"), "loose"), []string{"deep/y g/deep/y.txtar", "x g/x.txtar"}},
		"a loose file": {find("", "loose/deep/y.txtar"), []string{"y loose/deep/golden/y.txtar"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := os.Symlink("scenarios", filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if diff := cmp.Diff([]string{"a/one link/golden/a/one.txtar", "b/two link/golden/b/two.txtar"}, find("", "link")); diff != "" {
		t.Errorf("a symbolic link (-want +got):\n%s", diff)
	}
	for paths, want := range map[string]string{"nowhere": "there are no scenarios", "empty": "nothing to replay"} {
		if got := find("", paths); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s gave %v", paths, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{"../scenarios/garden/assistant.txtar", "../scenarios/memory/damaged-value-is-kept-aside.txtar", "../scenarios/pages/emoji-stay-whole.txtar",
		"../scenarios/world/a-change-makes-a-cursor-stale.txtar", "../scenarios/tools/writes-what-is-asked-however-long.txtar", "../scenarios/fallback/is-given-all-there-is.txtar"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(scenario(look)))
	f.Add([]byte("-- scenario.yaml --\nversion: 1\nfiles: {/a: {repeat: x, count: 1}}\ncalls: [{tool: readFile, input: {path: /a}, pages: all}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sc, err := agentsim.Parse("s.txtar", "s", data)
		if err != nil {
			return
		}
		one, oneErr := agentsim.Replay(t.Context(), sc, nil)
		two, twoErr := agentsim.Replay(t.Context(), sc, nil)
		if !bytes.Equal(one.Golden(), two.Golden()) || (oneErr == nil) != (twoErr == nil) {
			t.Fatalf("two replays differ:\n%s\n%v\n%s\n%v", one.Golden(), oneErr, two.Golden(), twoErr)
		}
		if diff, err := agentsim.Compare(one.Golden(), two.Golden()); diff != nil || err != nil {
			t.Fatalf("a golden does not compare with itself: %v, %v", diff, err)
		}
	})
}
