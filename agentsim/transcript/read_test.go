package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/transcript"
)

func read(t testing.TB, text string, format transcript.Format) *transcript.Transcript {
	t.Helper()
	tr, err := transcript.Read(strings.NewReader(text), &transcript.Options{Format: format, File: "t.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestUnknownFormats(t *testing.T) {
	for _, text := range []string{"", "hello", `{"a":1}`, "\x00\x01", "[]"} {
		_, err := transcript.Read(strings.NewReader(text), nil)
		if !errors.Is(err, transcript.ErrUnknownFormat) || !strings.Contains(err.Error(), "atif, claude-code, codex, mcp-frames, opencode, openhands, otel, swe-agent") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := transcript.Read(strings.NewReader(""), &transcript.Options{Format: "cursor"}); err == nil || !strings.Contains(err.Error(), `there is no format "cursor", use one of atif`) {
		t.Errorf("a format that is not known: %v", err)
	}
	if _, err := transcript.Read(io.MultiReader(strings.NewReader(`{"jsonrpc"`), errReader{}), nil); err == nil || !errors.Is(err, errBroken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

var errBroken = errors.New("the disk is broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// frame is a call over MCP and its answer, as a log of messages has them.
func frame(id int, tool, args, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}
{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}
`, id, tool, args, id, text)
}

// What is damaged is named by its line and passed over; the rest is taken.
func TestDamagedLines(t *testing.T) {
	good := frame(1, "readFile", `{"path":"/a"}`, "{\"path\":\"/a\",\"revision\":\"r\",\"line\":1,\"continued\":false,\"nextCursor\":null}\nx\n")
	text := good + "{\"jsonrpc\":\"2.0\",\n\n" + strings.Repeat("x", 9<<20) + "\n" + frame(2, "readFile", `{"path":"/nope"}`, "not-found: no")
	tr := read(t, text, transcript.MCPFrames)
	want := []transcript.Damaged{{Line: 3, Why: "the line is no message: it is no JSON"}, {Line: 5, Why: "the line is longer than 8388608 bytes"}}
	if diff := cmp.Diff(want, tr.Damaged); diff != "" {
		t.Error(diff)
	}
	if len(tr.Calls) != 2 {
		t.Errorf("%d calls were taken, want 2", len(tr.Calls))
	}
	if tr.Calls[1].Line != 6 {
		t.Errorf("the second call is in line %d, want 6", tr.Calls[1].Line)
	}
}

// So it is in formats whose lines have a form of their own, also behind a mark that
// some programs put in front.
func TestDamagedEvents(t *testing.T) {
	text := "\ufeff{\"type\":5}\r\n" + session("Read", `{"file_path":"/w/a"}`, "x", false) + "{\"type\":\r\n"
	tr, err := transcript.Read(strings.NewReader(text), &transcript.Options{Format: transcript.ClaudeCode})
	if err != nil {
		t.Fatal(err)
	}
	want := []transcript.Damaged{{Line: 1, Why: "the line is not as this format has it: type is a number"}, {Line: 4, Why: "the line is not as this format has it: it is no JSON"}}
	if diff := cmp.Diff(want, tr.Damaged); diff != "" {
		t.Error(diff)
	}
	if len(tr.Calls) != 1 || tr.Calls[0].Line != 2 {
		t.Errorf("the calls are %+v", tr.Calls)
	}
}

// A call in a document is named by the line in which its step begins.
func TestLinesOfDocuments(t *testing.T) {
	for name, want := range map[string]int{"atif-v1.7.json": 48, "openhands.json": 4, "otel-genai-spans.json": 3} {
		if got := load(t, name).Calls[0].Line; got != want {
			t.Errorf("the first call of %s is in line %d, want %d", name, got, want)
		}
	}
}

// A document that is cut off gives what it holds to there; an element that is no
// such thing is passed over.
func TestDamagedDocuments(t *testing.T) {
	for name, cut := range map[string]func(string) (string, int){
		"cut off": func(s string) (string, int) { return s[:strings.LastIndex(s, `"tool_call_id"`)], 78 }, // the step that is cut off begins behind it
		"one step is a text": func(s string) (string, int) {
			return strings.Replace(s, `"steps": [`, "\"steps\": [\n \"what?\",", 1), 31
		},
	} {
		data, err := os.ReadFile("testdata/transcripts/atif-v1.7.json")
		if err != nil {
			t.Fatal(err)
		}
		text, line := cut(string(data))
		tr := read(t, text, transcript.ATIF)
		if len(tr.Damaged) != 1 || tr.Damaged[0].Line != line {
			t.Errorf("%s: damaged %v, want line %d", name, tr.Damaged, line)
		}
		if len(tr.Calls) < 1 {
			t.Errorf("%s: nothing was taken", name)
		}
	}
}

// A secret stops the import, named by file and line and not repeated.
func TestSecrets(t *testing.T) {
	key := "AKIA" + "ABCDEFGHIJKLMNOP"
	for kind, secret := range map[string]string{
		"an AWS access key":   "aws " + key,
		"a private key":       "-----BEGIN RSA " + "PRIVATE KEY-----\nMII",
		"a GitHub token":      "ghp_" + strings.Repeat("a1B2", 9),
		"an API key":          "sk-ant-" + strings.Repeat("a1B2", 9),
		"a signed token":      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9." + strings.Repeat("a1B2", 9),
		"a password or key":   "DB_PASSWORD=" + strings.Repeat("a1B2", 5),
		"a password in a URL": "postgres://user:" + "hunter22@db/x",
		"a token":             "Authorization: Bearer " + strings.Repeat("a1B2", 9),
		"a Google API key":    "AIza" + strings.Repeat("a1B2c", 7),
		"a Slack token":       "xoxb-" + strings.Repeat("1", 12),
	} {
		page := "{\"path\":\"/a\",\"revision\":\"r\",\"line\":1,\"continued\":false,\"nextCursor\":null}\n"
		for where, tt := range map[string]struct {
			text string
			line int
		}{
			"in a result": {frame(1, "readFile", `{"path":"/nope"}`, "not-found: no") + frame(2, "readFile", `{"path":"/a"}`, page+secret+"\n"), 4},
			"in a call":   {frame(1, "grep", fmt.Sprintf(`{"pattern":%q}`, secret), `{"matches":[],"nextCursor":null}`), 1},
		} {
			_, err := read(t, tt.text, transcript.MCPFrames).Scenario(t.Context())
			var found *transcript.SecretError
			if !errors.As(err, &found) || found.Line != tt.line || found.Kind != kind {
				t.Errorf("%s %s: %v, want it in line %d", kind, where, err, tt.line)
				continue
			}
			if strings.Contains(err.Error(), secret[8:]) || !strings.HasPrefix(err.Error(), fmt.Sprintf("t.jsonl:%d: this looks like %s", tt.line, kind)) {
				t.Errorf("the error is %q", err)
			}
		}
	}
	// In the output of other tools it is not taken, and no reason to stop.
	text := frame(1, "readFile", `{"path":"/nope"}`, "not-found: no") + frame(2, "run", `{"command":"env"}`, key)
	if s, err := read(t, text, transcript.MCPFrames).Scenario(t.Context()); err != nil || bytes.Contains(s.Data, []byte(key)) {
		t.Errorf("a secret of another tool: %v", err)
	}
	// Plain words are none.
	text = frame(1, "readFile", `{"path":"/a"}`, "{\"path\":\"/a\",\"revision\":\"r\",\"line\":1,\"continued\":false,\"nextCursor\":null}\nThe password: ask Eve. token = short, https://x.example/a:b@c, sk-1, secret: \"see the safe\"\n")
	if _, err := read(t, text, transcript.MCPFrames).Scenario(t.Context()); err != nil {
		t.Errorf("plain words: %v", err)
	}
}

func TestNothingToReplay(t *testing.T) {
	for _, text := range []string{
		frame(1, "run", `{"command":"ls"}`, "x"),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"readFile","arguments":{"path":"/a"}}}`,
		frame(1, "readFile", `"no object"`, "invalid-argument: no"),
	} {
		if _, err := read(t, text, transcript.MCPFrames).Scenario(t.Context()); !errors.Is(err, transcript.ErrNothing) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// peak looks at how much memory is in use, now and then while it is read.
type peak struct {
	io.Reader
	read, next int
	most       uint64
}

func (p *peak) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.read += n; p.read >= p.next {
		p.next += 1 << 20
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.most = max(p.most, m.HeapAlloc)
	}
	return n, err
}

// repeat gives a text many times.
type repeat struct {
	text string
	left int
	rest string
}

func (r *repeat) Read(b []byte) (int, error) {
	if r.rest == "" {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.rest = r.text
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// The memory that a transcript takes does not grow with what is left out, in lines
// and in one document.
func TestMemoryIsBounded(t *testing.T) {
	noise := strings.Repeat("output ", 20_000)
	for name, in := range map[string]io.Reader{
		"lines": io.MultiReader(
			&repeat{text: fmt.Sprintf(`{"type":"user","sessionId":"s","parentUuid":null,"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}}`+"\n", noise), left: 60},
			strings.NewReader(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"r","name":"Read","input":{"file_path":"/a"}}]}}`+"\n"+
				`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"r","content":"     1→x"}]}}`)),
		"document": io.MultiReader(
			strings.NewReader(`{"schema_version":"ATIF-v1.7","steps":[`),
			&repeat{text: fmt.Sprintf(`{"message":%q,"tool_calls":[{"tool_call_id":"t","function_name":"run","arguments":{}}],"observation":{"results":[{"source_call_id":"t","content":%q}]}},`+"\n", noise, noise), left: 30},
			strings.NewReader(`{"tool_calls":[{"tool_call_id":"r","function_name":"read_file","arguments":{"path":"/a"}}],"observation":{"results":[{"source_call_id":"r","content":"x\n"}]}}]}`)),
	} {
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		p := &peak{Reader: in}
		tr, err := transcript.Read(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(tr.Calls) != 1 || p.read < 8<<20 {
			t.Fatalf("%s: %d calls in %d bytes", name, len(tr.Calls), p.read)
		}
		if grown := p.most - min(p.most, before.HeapAlloc); grown > 4<<20 {
			t.Errorf("%s: %d bytes of transcript took %d bytes of memory", name, p.read, grown)
		}
	}
}

// Over MCP a call that is asked again with the answer of a person is one call; an
// id that comes again after it was answered is another session's.
func TestFramesOfOneCall(t *testing.T) {
	const write = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/a","content":"x"}}}` + "\n"
	text := fmt.Sprintf(write, 1) + `{"jsonrpc":"2.0","id":1,"result":{"content":null,"resultType":"input_required","inputRequests":{}}}` + "\n" +
		fmt.Sprintf(write, 2) + `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"path\":\"/a\",\"revision\":\"r\"}"}],"resultType":"complete"}}` + "\n" +
		frame(2, "readFile", `{"path":"/nope"}`, "not-found: no") +
		`{"from":"server","frame":{"jsonrpc":"2.0","id":2,"method":"elicitation/create"}}` + "\n" +
		`{"from":"client","frame":{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}}` + "\n"
	s, err := read(t, text, transcript.MCPFrames).Scenario(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `{tool: writeFile, input: {"content": "x", "path": "/a"}}
{tool: readFile, input: {"path": "/nope"}, expect: {error: not-found}}`
	if diff := cmp.Diff(want, callsOf(s)); diff != "" {
		t.Error(diff)
	}
}

// What is told again, as every request of a conversation does, is one call.
func TestToldAgain(t *testing.T) {
	text := session("mcp__g__readFile", `{"path":"/nope"}`, "not-found: no", true)
	s, err := read(t, text+text, transcript.ClaudeCode).Scenario(t.Context())
	if err != nil || s.Calls != 1 {
		t.Errorf("%d calls, %v", s.Calls, err)
	}
}

// Of a result that is told twice the first counts: it is what the agent went on from.
func TestResultToldTwice(t *testing.T) {
	text := session("Read", `{"file_path":"/w/a.md"}`, "the first", false)
	_, again, _ := strings.Cut(session("Read", `{}`, "the second", true), "\n")
	tr := read(t, text+again, transcript.ClaudeCode)
	if len(tr.Calls) != 1 || tr.Calls[0].Result != "the first" || tr.Calls[0].Failed {
		t.Errorf("the calls are %+v", tr.Calls)
	}
}

// Of many damaged places the first are named, and the others counted.
func TestManyDamagedPlaces(t *testing.T) {
	text := session("Read", `{"file_path":"/w/a.md"}`, "x", false) + strings.Repeat("{\n", 60)
	tr := read(t, text, transcript.ClaudeCode)
	n := len(tr.Damaged)
	if n != 51 || tr.Damaged[0].Line != 3 || tr.Damaged[n-1].Line != 62 || !strings.Contains(fmt.Sprint(tr.Damaged[n-1]), "and 10 more places") {
		t.Errorf("%d damaged places, the last %v", n, tr.Damaged[n-1])
	}
}

// A secret in what stands beside a result, and was not shown to the model, stops the
// import too: it would be in the seeds.
func TestSecretBesideAResult(t *testing.T) {
	text := session("Read", `{"file_path":"/w/a.md"}`, "1→x", false)
	text = strings.TrimSuffix(text, "}\n") + `,"toolUseResult":{"originalFile":"key ghp_` + strings.Repeat("0aZ", 12) + `"}}` + "\n"
	_, err := read(t, text, transcript.ClaudeCode).Scenario(t.Context())
	var found *transcript.SecretError
	if !errors.As(err, &found) || found.Line != 2 || found.Kind != "a GitHub token" {
		t.Errorf("Scenario: %v", err)
	}
}
