package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/transcript"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

// recording calls tools through a recorder, as an agent does.
type recording struct {
	t       *testing.T
	r       *transcript.Recorder
	results []string
}

func (r *recording) call(tool string, args map[string]any) agenttool.Output {
	r.t.Helper()
	input, err := json.Marshal(args)
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := r.r.Call(r.t.Context(), agenttool.Scope{}, tool, input)
	if err != nil {
		r.results = append(r.results, err.Error())
		return nil
	}
	r.results = append(r.results, res.Text)
	return res.Output
}

// replayed returns the golden of what was recorded.
func (r *recording) replayed(opts *agentsim.ReplayOptions) (*transcript.Scenario, string) {
	r.t.Helper()
	s, err := r.r.Scenario(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	sc, err := agentsim.Parse("recorded.txtar", "recorded", s.Data)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, s.Data)
	}
	shown, err := agentsim.Replay(r.t.Context(), sc, opts)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, s.Data)
	}
	return s, string(shown.Golden())
}

func newRecording(t *testing.T, opts transcript.RecorderOptions) *recording {
	t.Helper()
	r, err := transcript.NewRecorder(opts)
	if err != nil {
		t.Fatal(err)
	}
	return &recording{t: t, r: r}
}

func mem(t *testing.T, seeds map[string]string) vfs.Backend {
	t.Helper()
	b, err := memfs.New(seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// odd are contents that a scenario must bring back as they are.
var odd = map[string]string{
	"/plain.md":        "one\ntwo\nthree recieve\n",
	"/nonl.txt":        "no newline at the end",
	"/crlf.txt":        "a\r\nb\r\n",
	"/marker.txt":      "-- files/x --\n-- scenario.yaml --\nversion: 2\n",
	"/hidden.txt":      "\ufeffbom \x00 \x7f \u0085 \u2028 \U000e0001 end\n",
	"/yaml.txt":        "- {a: \"b\", c: 'd'} # e\n\t%f &g *h !i | > \\ \\n\n",
	"/emoji 🥬 ä.txt":   "🥬 \U0001f468\u200d\U0001f469 ﷽\n",
	"/#a: {b}, [c].md": "x\n",
	"/empty":           "",
	"/long.txt":        strings.Repeat("line with a recieve in it\n", 300),
}

// What is recorded replays with the same results, whatever the files hold.
func TestRecording(t *testing.T) {
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, odd), Writable: true}})
	for path := range odd {
		r.call("readFile", map[string]any{"path": path})
	}
	page := r.call("readFile", map[string]any{"path": "/long.txt", "limit": 50})
	r.call("readFile", map[string]any{"path": "/long.txt", "cursor": page.Next()})
	found := r.call("grep", map[string]any{"pattern": "recieve", "path": nil})
	r.call("grep", map[string]any{"pattern": "recieve", "cursor": found.Next()})
	r.call("glob", map[string]any{"pattern": "/**/*.md"})
	plain := r.call("readFile", map[string]any{"path": "/plain.md"}).(*agenttool.ReadOutput)
	edited := r.call("editFile", map[string]any{"path": "/plain.md", "revision": plain.Revision, "oldText": "recieve", "newText": "<rev:1> \"quoted\" \U000e0001\x00"}).(*agenttool.WriteOutput)
	r.call("editFile", map[string]any{"path": "/plain.md", "revision": plain.Revision, "oldText": "one", "newText": "1"}) // stale
	r.call("deleteFile", map[string]any{"path": "/plain.md", "revision": edited.Revision})
	r.call("writeFile", map[string]any{"path": "/new.md", "content": "a\nb"})
	r.call("writeFile", map[string]any{"path": "/empty", "content": "x"}) // exists
	r.call("readFile", map[string]any{"path": "/nope.md"})
	r.call("readFile", map[string]any{"path": "/a/../b"})
	r.call("readFile", map[string]any{"path": "/long.txt", "cursor": "made-up"})
	r.call("readFile", map[string]any{"path": "/long.txt", "limit": 1e6, "unknown": []any{1.5, nil, map[string]any{"a": true}}})

	s, golden := r.replayed(nil)
	if len(s.Differs)+len(s.LeftOut)+len(s.Partial) > 0 {
		t.Errorf("differs %v, left out %v, partial %v", s.Differs, s.LeftOut, s.Partial)
	}
	if s.Calls != len(r.results) {
		t.Errorf("%d calls are in the scenario, %d were made", s.Calls, len(r.results))
	}
	if i := strings.IndexFunc(string(s.Data), func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || strings.ContainsRune("\x7f\u0085\ufeff\u2028", r)
	}); i >= 0 {
		t.Errorf("the scenario has a character in it that editors hide or change, at byte %d", i)
	}
	for i, result := range r.results {
		head, content, _ := strings.Cut(result, "\n")
		if content == "" && !strings.HasPrefix(head, "{") && !strings.Contains(golden, head) {
			t.Errorf("result %d is not in the golden: %s", i+1, head)
		}
	}
	files, err := agentsim.GoldenFiles([]byte(golden))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/new.md": "a\nb"}
	for path, content := range odd {
		want[path] = content
	}
	delete(want, "/plain.md")
	got := map[string]string{}
	for _, f := range files {
		if f.Seeded {
			f.Content = odd[f.Path]
		}
		got[f.Path] = f.Content
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files at the end (-want +got):\n%s", diff)
	}
}

// Limits, root, tokenizer and stores of the recording are those of the scenario.
func TestRecordingKeepsItsSetup(t *testing.T) {
	docs, err := staticfs.New(map[string]string{"/guide.md": strings.Repeat("a line\n", 50)})
	if err != nil {
		t.Fatal(err)
	}
	files, err := routefs.New(mem(t, map[string]string{"/w/a.md": "x\n"}), []routefs.Route{{Prefix: "/w/docs", Backend: docs}, {Prefix: "/w/notes", Backend: mem(t, nil)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(text string) int { return len(text) }
	r := newRecording(t, transcript.RecorderOptions{
		Tools:     agenttool.Options{Backend: files, Root: "/w", Writable: true, DefaultLines: 3, MaxLines: 4, MaxMatches: 1, MaxTokens: 300, CountTokens: bytes},
		Tokenizer: "bytes", Tokenizers: func(string) (agenttool.TokenCounter, error) { return bytes, nil },
		Fixed: []string{"/w/docs"}, Routes: []string{"/w/notes"},
	})
	r.call("readFile", map[string]any{"path": "/w/docs/guide.md"})
	r.call("readFile", map[string]any{"path": "/w/docs/guide.md", "limit": 5})
	r.call("readFile", map[string]any{"path": "/elsewhere"})
	r.call("glob", map[string]any{"pattern": "/w/**"})
	r.call("writeFile", map[string]any{"path": "/w/docs/new.md", "content": "x"})
	r.call("writeFile", map[string]any{"path": "/w/notes/new.md", "content": "x"})
	s, golden := r.replayed(&agentsim.ReplayOptions{Tokenizers: func(string) (agenttool.TokenCounter, error) { return bytes, nil }})
	if len(s.Differs) > 0 {
		t.Errorf("differs: %v", s.Differs)
	}
	for _, want := range []string{"-- tokenizer --\nbytes", "of 300 tokens", "error: outside-root", "error: read-only", "error: invalid-argument", "-- file /w/notes/new.md"} {
		if !strings.Contains(golden, want) {
			t.Errorf("the golden has no %q:\n%s", want, golden)
		}
	}
}

// What others do to the store meanwhile is told, and so is what fails.
func TestRecordingTellsWhatItLacks(t *testing.T) {
	files := mem(t, map[string]string{"/a.md": "one\n"})
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: files}})
	if _, err := r.r.Scenario(t.Context()); !errors.Is(err, transcript.ErrNothing) {
		t.Errorf("nothing recorded: %v", err)
	}
	out := r.call("readFile", map[string]any{"path": "/a.md"}).(*agenttool.ReadOutput)
	if _, err := vfs.Write(t.Context(), files, "/a.md", "two\n", out.Revision); err != nil {
		t.Fatal(err)
	}
	r.call("readFile", map[string]any{"path": "/a.md"})
	r.call("writeFile", map[string]any{"path": "/b.md", "content": "x"})
	if _, err := r.r.Call(t.Context(), agenttool.Scope{}, "readFile", json.RawMessage(`[1]`)); err == nil {
		t.Error("a list of arguments was taken")
	}
	s, _ := r.replayed(nil)
	want := []transcript.LeftOut{{Tool: "writeFile", Calls: 1, Why: "it is not offered"}, {Tool: "readFile", Calls: 1, Why: "its arguments are no JSON object"}}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" {
		t.Error(diff)
	}
	if len(s.Partial) != 1 || s.Partial[0] != (transcript.Partial{Path: "/a.md", Why: "someone else changed it before call 2 was recorded"}) {
		t.Errorf("partial: %v", s.Partial)
	}
}

func TestRecordingPointsAtSecrets(t *testing.T) {
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, map[string]string{"/env": "KEY=AKIA" + "ABCDEFGHIJKLMNOP\n"})}})
	r.call("glob", map[string]any{"pattern": "/*"})
	want := []transcript.Suspect{{Where: "/env", Kind: "an AWS access key"}}
	if diff := cmp.Diff(want, r.r.Suspects()); diff != "" {
		t.Error(diff)
	}
}

// Whatever texts files and arguments hold, a recording replays.
func FuzzRecording(f *testing.F) {
	f.Add("/a.md", "text\n", "recieve")
	f.Add("/a: b", "-- x --\n\r\u2028\x00", "\U000e0001\"'{}")
	f.Add("/~", "null", "1e3")
	f.Fuzz(func(t *testing.T, path, content, text string) {
		files, err := memfs.New(map[string]string{path: content}, nil)
		if err != nil {
			t.Skip("no store takes that file")
		}
		r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: files, Writable: true}})
		r.call("readFile", map[string]any{"path": path, text: text})
		r.call("grep", map[string]any{"pattern": text})
		out, ok := r.call("readFile", map[string]any{"path": path}).(*agenttool.ReadOutput)
		if ok {
			r.call("writeFile", map[string]any{"path": path, "content": text, "revision": out.Revision})
		}
		r.call("writeFile", map[string]any{"path": path + "2", "content": text, "revision": text})
		s, err := r.r.Scenario(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.LeftOut) > 1 || len(s.LeftOut) == 1 && !strings.Contains(s.LeftOut[0].Why, "label") && !strings.Contains(s.LeftOut[0].Why, "cannot be said") {
			t.Fatalf("left out: %v", s.LeftOut)
		}
		if len(s.Differs) > 0 {
			t.Fatalf("differs: %v\n%s", fmt.Sprint(s.Differs), s.Data)
		}
	})
}

// Whatever numbers an agent sends, a recording replays, and shows what was shown.
func TestRecordingOfNumbers(t *testing.T) {
	for _, n := range []float64{1e20, -1e20, 1e300, 1e18, 1 << 63, 2.5, 1e-7, 5e-324} {
		r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, map[string]string{"/a.md": "a\n"})}})
		r.call("readFile", map[string]any{"path": "/a.md", "offset": n})
		s, golden := r.replayed(nil)
		if len(s.LeftOut)+len(s.Differs) > 0 {
			t.Errorf("%v: left out %v, differs %v", n, s.LeftOut, s.Differs)
		}
		if !strings.Contains(golden, strings.TrimSpace(r.results[0])) {
			t.Errorf("%v: %q was shown, and the replay shows\n%s", n, r.results[0], golden)
		}
	}
}

// A call that no scenario can hold is left out, and does not take the others along.
func TestRecordingLeavesOutWhatCannotBeSaid(t *testing.T) {
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, map[string]string{"/a.md": "a\n"}), Writable: true}})
	r.call("writeFile", map[string]any{"path": "/b.md", "content": "b", "revision": "<1"})
	r.call("readFile", map[string]any{"path": "/a.md"})
	var deep any
	for range 100 {
		deep = []any{deep}
	}
	r.call("readFile", map[string]any{"path": "/a.md", "deep": deep})
	for range 30 { // they may be many
		r.call("readFile", map[string]any{"path": "/a.md", "deep": deep})
	}
	r.call("glob", map[string]any{"pattern": "/*"})
	s, golden := r.replayed(nil)
	want := []transcript.LeftOut{
		{Tool: "readFile", Calls: 31, Why: "it cannot be said in a scenario"},
		{Tool: "writeFile", Calls: 1, Why: "its revision could be taken for a label"},
	}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" {
		t.Error(diff)
	}
	if s.Calls != 2 || !strings.Contains(golden, "-- 2 glob --") {
		t.Errorf("%d calls, and the replay shows\n%s", s.Calls, golden)
	}
}

// A call that was canceled says nothing of the tools, and is not in the scenario.
func TestRecordingOfACanceledCall(t *testing.T) {
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: mem(t, map[string]string{"/a": "x"})}})
	r.call("readFile", map[string]any{"path": "/a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.r.Call(ctx, agenttool.Scope{}, "readFile", json.RawMessage(`{"path":"/a"}`)); agenttool.CodeOf(err) != codes.Canceled {
		t.Fatalf("the call: %v", err)
	}
	s, _ := r.replayed(nil)
	want := []transcript.LeftOut{{Tool: "readFile", Calls: 1, Why: "it failed with canceled"}}
	if diff := cmp.Diff(want, s.LeftOut); diff != "" || s.Calls != 1 {
		t.Errorf("%d calls, left out (-want +got):\n%s", s.Calls, diff)
	}
}

// Files of a route inside of another one are those of the inner one.
func TestRecordingOfNestedRoutes(t *testing.T) {
	routes := []routefs.Route{{Prefix: "/a", Backend: mem(t, map[string]string{"/f": "outer"})}, {Prefix: "/a/b", Backend: mem(t, map[string]string{"/f": "inner"})}}
	b, err := routefs.New(mem(t, map[string]string{"/f": "default"}), routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecording(t, transcript.RecorderOptions{Tools: agenttool.Options{Backend: b}, Routes: []string{"/a", "/a/b"}})
	for _, path := range []string{"/f", "/a/f", "/a/b/f"} {
		r.call("readFile", map[string]any{"path": path})
	}
	s, golden := r.replayed(nil)
	for _, want := range []string{"default", "outer", "inner"} {
		if !strings.Contains(golden, want) {
			t.Errorf("the replay does not show %q", want)
		}
	}
	if len(s.Differs)+len(s.LeftOut) > 0 {
		t.Errorf("differs %v, left out %v", s.Differs, s.LeftOut)
	}
}
