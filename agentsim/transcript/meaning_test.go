package transcript_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// session is one call of an agent's tool in the working folder /w, as Claude Code
// writes it down.
func session(tool, args, result string, failed bool) string {
	return fmt.Sprintf(`{"type":"assistant","cwd":"/w","message":{"content":[{"type":"tool_use","id":"1","name":%q,"input":%s}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":%q,"is_error":%t}]}}
`, tool, args, result, failed)
}

var callLine = regexp.MustCompile(`(?m)^  - (.*)$`)

// callsOf returns the calls of a scenario as they stand in it.
func callsOf(s *transcript.Scenario) string {
	var calls []string
	for _, m := range callLine.FindAllStringSubmatch(string(s.Data), -1) {
		calls = append(calls, m[1])
	}
	return strings.Join(calls, "\n")
}

// Tools of agents are taken where they mean what one of ours means.
func TestMeanings(t *testing.T) {
	const ours = "{\"path\":\"/w/a.md\",\"revision\":\"r\",\"line\":1,\"continued\":false,\"nextCursor\":null}\nx\n"
	for _, tt := range []struct{ tool, args, result, want string }{
		{"Read", `{"file_path":"/w/d/a.md"}`, "     1→x", `{tool: readFile, input: {"path": "/d/a.md"}, pages: all}`},
		{"Read", `{"file_path":"/w/a.md","offset":3,"limit":2}`, "     3→x", `{tool: readFile, input: {"limit": 2, "offset": 2, "path": "/a.md"}}`},
		{"Read", `{"file_path":"/w/a.md","limit":2000}`, "     1→x", `{tool: readFile, input: {"path": "/a.md"}, pages: all}`},
		{"read", `{"filePath":"/w/a.md","offset":3}`, "00004| x", `{tool: readFile, input: {"offset": 3, "path": "/a.md"}, pages: all}`},
		{"read_file", `{"path":"a.md"}`, "x\n", `{tool: readFile, input: {"path": "/a.md"}, pages: all}`},
		{"str_replace_based_edit_tool", `{"command":"view","path":"/w/a.md","view_range":[2,-1]}`, "2\tx", `{tool: readFile, input: {"offset": 1, "path": "/a.md"}, pages: all}`},
		{"Write", `{"file_path":"/w/a.md","content":"in /w/b and /wide"}`, "ok", `{tool: writeFile, input: {"content": "in /b and /wide", "path": "/a.md"}}`},
		{"Edit", `{"file_path":"/w/a.md","old_string":"one","new_string":"1"}`, "ok", `{tool: glob, input: {"pattern": "/a.md"}}
{tool: editFile, input: {"newText": "1", "oldText": "one", "path": "/a.md", "revision": "<rev:1>"}}`},
		{"MultiEdit", `{"file_path":"/w/a.md","edits":[{"old_string":"one","new_string":"1"},{"old_string":"two","new_string":"2"}]}`, "ok", `{tool: glob, input: {"pattern": "/a.md"}}
{tool: editFile, input: {"newText": "1", "oldText": "one", "path": "/a.md", "revision": "<rev:1>"}}
{tool: editFile, input: {"newText": "2", "oldText": "two", "path": "/a.md", "revision": "<rev:2>"}}`},
		{"edit", `{"filePath":"/w/new.md","oldString":"","newString":"x"}`, "ok", `{tool: writeFile, input: {"content": "x", "path": "/new.md"}}`},
		{"delete_file", `{"target_file":"a.md"}`, "ok", `{tool: glob, input: {"pattern": "/a.md"}}
{tool: deleteFile, input: {"path": "/a.md", "revision": "<rev:1>"}}`},
		{"Grep", `{"pattern":"a typo","path":"/w/d","-i":true,"output_mode":"content"}`, "/w/d/a.md:2:a typo", `{tool: grep, input: {"path": "/d", "pattern": "a typo"}, pages: all}`},
		{"grep", `{"pattern":"typo"}`, "none", `{tool: grep, input: {"ignoreCase": false, "pattern": "typo"}, pages: all}`},
		{"Glob", `{"pattern":"**/*.md","path":"/w/d"}`, "/w/d/a.md", `{tool: glob, input: {"pattern": "/d/**/*.md"}, pages: all}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: empty.md\n*** Add File: line.md\n+\n*** End Patch\n"}`, "ok", `{tool: writeFile, input: {"content": "", "path": "/empty.md"}}
{tool: writeFile, input: {"content": "\n", "path": "/line.md"}}`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: new.md\n+a\n+b\n*** Update File: a.md\n@@ section\n one\n-two\n+2\n@@\n three\n+four\n*** Delete File: /w/old.md\n*** End Patch\n"}`, "ok", `{tool: writeFile, input: {"content": "a\nb\n", "path": "/new.md"}}
{tool: glob, input: {"pattern": "/a.md"}}
{tool: editFile, input: {"newText": "one\n2", "oldText": "one\ntwo", "path": "/a.md", "revision": "<rev:2>"}}
{tool: editFile, input: {"newText": "three\nfour", "oldText": "three", "path": "/a.md", "revision": "<rev:3>"}}
{tool: glob, input: {"pattern": "/old.md"}}
{tool: deleteFile, input: {"path": "/old.md", "revision": "<rev:5>"}}`},
		{"mcp__fs__read_file", `{"path":"/w/a.md"}`, "x\n", `{tool: readFile, input: {"path": "/a.md"}, pages: all}`},
		{"mcp__g__readFile", `{"path":"/w/a.md"}`, ours, `{tool: readFile, input: {"path": "/a.md"}}`}, // the folder goes, wherever it stands
		{"files_readFile", `{"path":"/w/a.md"}`, ours, `{tool: readFile, input: {"path": "/a.md"}}`},
	} {
		s, err := read(t, session(tt.tool, tt.args, tt.result, false), transcript.ClaudeCode).Scenario(t.Context())
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.want, callsOf(s)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.args, diff)
		}
		if len(s.LeftOut)+len(s.Differs) > 0 {
			t.Errorf("%s %s: left out %v, differs %v", tt.tool, tt.args, s.LeftOut, s.Differs)
		}
	}
}

// A tool that shows all from some line on is followed through all pages of ours, whose
// cursors stand in place of that line.
func TestPagesFromALine(t *testing.T) {
	var shown strings.Builder
	for n := 4; n < 400; n++ {
		fmt.Fprintf(&shown, "%6d→a line of some length, so that one page does not hold all %d\n", n, n)
	}
	s, err := read(t, session("read", `{"filePath":"/w/a.md","offset":3}`, shown.String(), false), transcript.ClaudeCode).Scenario(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := `{tool: readFile, input: {"offset": 3, "path": "/a.md"}, pages: all}`; callsOf(s) != want || len(s.Differs) > 0 {
		t.Errorf("the calls are %s, differs %v", callsOf(s), s.Differs)
	}
}

// What means something else is left out, and why.
func TestLeftOut(t *testing.T) {
	for _, tt := range []struct{ tool, args, why string }{
		{"Read", `{"file_path":"/etc/passwd"}`, "/etc/passwd is outside the working folder"},
		{"Read", `{"file_path":"/wide/a.md"}`, "/wide/a.md is outside the working folder"},
		{"Read", `{}`, "it names no file"},
		{"Read", `[]`, "its arguments are no JSON object"},
		{"Edit", `{"file_path":"/w/a.md","old_string":"one","new_string":"1","replace_all":true}`, "it replaces every occurrence"},
		{"Edit", `{"file_path":"/w/a.md"}`, "it tells no text to replace"},
		{"Write", `{"file_path":"/w/a.md"}`, "it tells no content"},
		{"Grep", `{"pattern":"a.*b"}`, "its pattern is no plain text"},
		{"Grep", `{"pattern":"a","glob":"*.md"}`, "it is narrowed by glob"},
		{"Grep", `{"pattern":"a","path":"/etc"}`, "/etc is outside the working folder"},
		{"Glob", `{"pattern":"*.{md,txt}"}`, "its pattern has signs that glob does not have here"},
		{"str_replace_editor", `{"command":"undo_edit","path":"/w/a"}`, `its command "undo_edit" has no like here`},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n*** End Patch"}`, "it moves a file"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n@@\n+x\n*** End Patch"}`, "its patch adds lines without saying where"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: /etc/x\n+x\n*** End Patch"}`, "/etc/x is outside the working folder"},
		{"apply_patch", `{"input":"x"}`, "it holds no patch"},
		{"editFile", `{"path":"/w/a","edits":[]}`, "it tells no text to replace"},
	} {
		text := session(tt.tool, tt.args, "result", false) + strings.ReplaceAll(session("mcp__g__readFile", `{"path":"/nope"}`, "not-found: no", true), `"1"`, `"2"`)
		s, err := read(t, text, transcript.ClaudeCode).Scenario(t.Context())
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.args, err)
			continue
		}
		if want := []transcript.LeftOut{{Tool: tt.tool, Calls: 1, Why: tt.why}}; !cmp.Equal(want, s.LeftOut) || s.Calls != 1 {
			t.Errorf("%s %s: %d calls, left out %v, want %v", tt.tool, tt.args, s.Calls, s.LeftOut, want)
		}
	}
}

// A call that went otherwise for the agent is told, and does not fail the replay.
func TestDiffers(t *testing.T) {
	text := session("Edit", `{"file_path":"/w/a.md","old_string":"one","new_string":"1"}`, "no such text", true)
	text += frame0("mcp__g__writeFile", `{"path":"/b.md","content":"x"}`, "conflict: it exists")
	s, err := read(t, text, transcript.ClaudeCode).Scenario(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Differs) != 0 {
		t.Errorf("a failed edit and a conflict replay as such: %v", s.Differs)
	}
	text = session("Write", `{"file_path":"/w/new.md","content":"x"}`, "no rights", true)
	if s, err = read(t, text, transcript.ClaudeCode).Scenario(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []transcript.Difference{{Call: 1, Tool: "writeFile", Was: "error", Is: "ok"}}; !cmp.Equal(want, s.Differs) {
		t.Errorf("a write that failed for the agent alone differs %v, want %v", s.Differs, want)
	}
	text = frame0("mcp__g__editFile", `{"path":"/b.md","revision":"old","oldText":"x","newText":"y"}`, "too-large: it is")
	if s, err = read(t, text, transcript.ClaudeCode).Scenario(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []transcript.Difference{{Call: 1, Tool: "editFile", Was: "too-large", Is: "not-found"}}; !cmp.Equal(want, s.Differs) {
		t.Errorf("differs %v, want %v", s.Differs, want)
	}
}

func frame0(tool, args, result string) string {
	return strings.ReplaceAll(session(tool, args, result, true), `"1"`, `"other"`)
}

// The seeds are put together from what was shown, whichever call showed it.
func TestSeeds(t *testing.T) {
	page := func(line int, continued bool, next, content string) string {
		quoted := "null"
		if next != "" {
			quoted = `"` + next + `"`
		}
		return fmt.Sprintf("{\"path\":\"/a.md\",\"revision\":\"r1\",\"line\":%d,\"continued\":%t,\"nextCursor\":%s}\n%s", line, continued, quoted, content)
	}
	rest := "(the rest of the file was not shown)\n"
	for name, tt := range map[string]struct {
		frames  string
		want    string
		partial string
	}{
		"a page read twice": {frame(1, "readFile", `{"path":"/a.md","limit":1}`, page(1, false, "c1", "one\n")) + frame(2, "readFile", `{"path":"/a.md","cursor":"c1"}`, page(2, false, "", "two\n")) +
			frame(3, "readFile", `{"path":"/a.md","cursor":"c1"}`, page(2, false, "", "two\n")), "one\ntwo\n", ""},
		"cut in a line":  {frame(1, "readFile", `{"path":"/a.md"}`, page(1, false, "c1", "one\ntw")), "one\ntw" + rest, "it was shown to line 2, and not to its end"},
		"cut at a line":  {frame(1, "readFile", `{"path":"/a.md","limit":1}`, page(1, false, "c1", "one\n")), "one\n" + rest, "it was shown to line 1, and not to its end"},
		"from an offset": {frame(1, "readFile", `{"path":"/a.md","offset":2}`, page(3, false, "", "three")), "\n\nthree", "1 of its lines were shown, the last of them is line 3"},
		"a hit":          {frame(1, "grep", `{"pattern":"o"}`, `{"matches":[{"path":"/a.md","revision":"r1","line":2,"excerpt":"two"}],"nextCursor":null}`), "\ntwo\n", "1 of its lines were shown, the last of them is line 2"},
		"a name":         {frame(1, "glob", `{"pattern":"/*"}`, `{"matches":[{"path":"/a.md","revision":"r1"}],"nextCursor":null}`), "", "only its name was shown"},
		"an edit":        {frame(1, "editFile", `{"path":"/a.md","revision":"r1","oldText":"two","newText":"2"}`, `{"path":"/a.md","revision":"r2"}`), "two\n", "only the text that was replaced is known"},
		"not as it is behind an edit": {frame(1, "grep", `{"pattern":"one"}`, `{"matches":[{"path":"/a.md","revision":"r1","line":1,"excerpt":"one"}],"nextCursor":null}`) +
			frame(2, "editFile", `{"path":"/a.md","revision":"r1","oldText":"one","newText":"1"}`, `{"path":"/a.md","revision":"r2"}`) + frame(3, "readFile", `{"path":"/a.md"}`, page(1, false, "", "1\ntwo\n")), "one\n", "it was shown to line 1, and not to its end"},
		"as it was before": {frame(1, "readFile", `{"path":"/a.md"}`, page(1, false, "", "one\n")) + frame(2, "editFile", `{"path":"/a.md","revision":"r1","oldText":"one","newText":"1"}`, `{"path":"/a.md","revision":"r2"}`) +
			frame(3, "readFile", `{"path":"/a.md"}`, page(1, false, "", "1\n")), "one\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := read(t, tt.frames, transcript.MCPFrames).Scenario(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sc, err := agentsim.Parse("s.txtar", "s", []byte(regexp.MustCompile(`(?s)calls:\n.*?(\n--|$)`).ReplaceAllString(string(s.Data), "calls: [{tool: readFile, input: {path: /a.md}, pages: all}]$1")))
			if err != nil {
				t.Fatalf("%v\n%s", err, s.Data)
			}
			shown, err := agentsim.Replay(t.Context(), sc, nil)
			if err != nil {
				t.Fatal(err)
			}
			files, err := agentsim.GoldenFiles(shown.Golden())
			if err != nil || len(files) != 1 || files[0].Content != tt.want {
				t.Errorf("the seed is %+v, want %q, %v", files, tt.want, err)
			}
			why := ""
			if len(s.Partial) == 1 {
				why = s.Partial[0].Why
			}
			if why != tt.partial {
				t.Errorf("it is partial because %q, want %q", why, tt.partial)
			}
			if len(s.Differs) > 0 {
				t.Errorf("differs: %v", s.Differs)
			}
		})
	}
}

// A page that was cut is cut at the same place, and its cursor goes on.
func TestPagesAreCutAsTheyWere(t *testing.T) {
	tr := load(t, "codex-rollout.jsonl")
	last := tr.Calls[len(tr.Calls)-1]
	s, err := tr.Scenario(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sc, err := agentsim.Parse("s.txtar", "s", s.Data)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := agentsim.Replay(t.Context(), sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(last.Result, "\n")
	var quoted []string
	for line := range strings.SplitSeq(page, "\n") {
		quoted = append(quoted, ">"+line)
	}
	want := "page 1: 512 of 512 tokens"
	golden := string(shown.Golden())
	if !strings.Contains(golden, want) || !strings.Contains(golden, strings.Join(quoted, "\n")+"\\\n") || !strings.Contains(golden, `"nextCursor":"<cursor:1>"`) {
		t.Errorf("the golden has no %s, cut as\n%s\nit is\n%s", want, strings.Join(quoted, "\n"), golden)
	}
}

// Pages are joined to the file that they are of, also where a small budget cut them
// inside lines, and are cut so again.
func TestPagesJoin(t *testing.T) {
	content := strings.Repeat("Der Lattich heißt 生菜 🥬 and lettuce, again and again.\n", 20) + "no newline"
	for _, budget := range []int{100, 200, 512, 3000} {
		r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, map[string]string{"/a.md": content}), MaxTokens: budget}})
		var frames strings.Builder
		args := map[string]any{"path": "/a.md", "limit": 200}
		for n := 1; ; n++ {
			input, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			out := r.call("readFile", args)
			frames.WriteString(frame(n, "readFile", string(input), r.results[n-1]))
			if out.Next() == "" {
				break
			}
			args = map[string]any{"path": "/a.md", "cursor": out.Next()}
		}
		s, err := read(t, frames.String(), transcript.MCPFrames).Scenario(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sc, err := agentsim.Parse("s.txtar", "s", s.Data)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := agentsim.Replay(t.Context(), sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		files, err := agentsim.GoldenFiles(shown.Golden())
		if err != nil || files[0].Content != content || s.Calls != len(r.results) || len(s.Differs)+len(s.Partial) > 0 {
			t.Errorf("budget %d: %d calls of %d, differs %v, partial %v, %v", budget, s.Calls, len(r.results), s.Differs, s.Partial, err)
		}
		var want, got []string
		for _, result := range r.results {
			want = append(want, fmt.Sprint(agenttool.EstimateTokens(result)))
		}
		for _, m := range regexp.MustCompile(`(?m)^page 1: (\d+) of`).FindAllStringSubmatch(string(shown.Golden()), -1) {
			got = append(got, m[1])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("budget %d: the pages cost something else (-agent +replay):\n%s", budget, diff)
		}
	}
}

// A revision that the agent was shown is named by its number, also where it was
// stale by then.
func TestStaleRevision(t *testing.T) {
	const edit = `{"path":"/a.md","revision":"r1","oldText":"one","newText":"1"}`
	text := frame(1, "readFile", `{"path":"/a.md"}`, "{\"path\":\"/a.md\",\"revision\":\"r1\",\"line\":1,\"continued\":false,\"nextCursor\":null}\none\n") +
		frame(2, "editFile", edit, `{"path":"/a.md","revision":"r2"}`) + frame(3, "editFile", edit, "conflict: it is at another revision")
	s, err := read(t, text, transcript.MCPFrames).Scenario(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `{tool: editFile, input: {"newText": "1", "oldText": "one", "path": "/a.md", "revision": "<rev:1>"}, expect: {error: conflict}}`
	if calls := callsOf(s); !strings.HasSuffix(calls, want) {
		t.Errorf("the calls are\n%s\nwant the last as\n%s", calls, want)
	}
	text = frame(1, "glob", `{"pattern":"/*"}`, `{"matches":[{"path":"/a.md","revision":"r1"}],"nextCursor":null}`) +
		frame(2, "editFile", `{"path":"/a.md","revision":"r1","oldText":"nowhere","newText":"1"}`, "no-match: it does not occur")
	if s, err = read(t, text, transcript.MCPFrames).Scenario(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := callsOf(s); !strings.HasSuffix(calls, `"revision": "<rev:1>"}, expect: {error: no-match}}`) {
		t.Errorf("a revision that a search showed: %s", calls)
	}
}

// Arguments that some agents write down as a text are the same.
func TestArgumentsInAText(t *testing.T) {
	args, err := json.Marshal(`{"path":"/nope"}`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(t, frame(1, "readFile", string(args), "not-found: no"), transcript.MCPFrames).Scenario(t.Context())
	if err != nil || callsOf(s) != `{tool: readFile, input: {"path": "/nope"}, expect: {error: not-found}}` {
		t.Errorf("%v: %s", err, callsOf(s))
	}
}
