package transcript_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/transcript"
)

// fuzz holds an importer to this: whatever a transcript holds, it is read to its
// end, and what comes of it replays or is refused in words. The seeds are small,
// since the fuzzer spends its time on making large ones smaller.
func fuzz(f *testing.F, format transcript.Format, seeds ...string) {
	for _, s := range append(seeds, "{}", "[[[[{}]]]]", "null\n5\n\"x\"") {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)/2]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := transcript.Read(bytes.NewReader(data), &transcript.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		s, err := tr.Scenario(t.Context())
		var secret *transcript.SecretError
		switch {
		case errors.Is(err, transcript.ErrNothing), errors.As(err, &secret):
		case err != nil:
			t.Fatal(err)
		case s.Calls < 1:
			t.Fatalf("a scenario of nothing:\n%s", s.Data)
		}
	})
}

func FuzzATIF(f *testing.F) {
	fuzz(f, transcript.ATIF, `{"steps":[{"tool_calls":[{"tool_call_id":"1","function_name":"read","arguments":{"path":"/a","limit":2}}],"observation":{"results":[{"source_call_id":"1","content":"x\n"}]}}]}`,
		`{"steps":[{"tool_calls":[{"tool_call_id":"1","function_name":"grep","arguments":{"pattern":"a"}}],"observation":{"results":[{"source_call_id":"1","content":[{"text":"/a:3:a"}]}]}}]}`)
}

func FuzzClaudeCode(f *testing.F) {
	fuzz(f, transcript.ClaudeCode, `{"type":"assistant","cwd":"/w","message":{"content":[{"type":"tool_use","id":"1","name":"Edit","input":{"file_path":"/w/a","old_string":"x","new_string":"y"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]},"toolUseResult":{"originalFile":"x"}}`,
		`{"type":"assistant","cwd":"/w","message":{"content":[{"type":"tool_use","id":"1","name":"Read","input":{"file_path":"/w/a","offset":4}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"  4→x"}]},"toolUseResult":{"file":{"content":"x","startLine":4,"numLines":1,"totalLines":9}}}`)
}

func FuzzCodex(f *testing.F) {
	fuzz(f, transcript.Codex, `{"type":"session_meta","payload":{"cwd":"/w"}}
{"type":"response_item","payload":{"type":"function_call","name":"glob","namespace":"mcp__g","arguments":"{\"pattern\":\"/**\"}","call_id":"1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":[{"text":"Wall time: 1\nOutput:"},{"text":"{\"matches\":[{\"path\":\"/a\",\"revision\":\"r\"}],\"nextCursor\":null}"}]}}`)
}

func FuzzMCPFrames(f *testing.F) {
	fuzz(f, transcript.MCPFrames, frame(1, "writeFile", `{"path":"/a","content":"x","revision":"r"}`, `{"path":"/a","revision":"s"}`)+frame(2, "deleteFile", `{"path":"/a","revision":"s"}`, `{"path":"/a","deleted":true}`),
		frame(1, "readFile", `{"path":"/a"}`, "{\"path\":\"/a\",\"revision\":\"r\",\"line\":1,\"continued\":false,\"nextCursor\":\"c\"}\nx")+frame(1, "readFile", `{"path":"/a","cursor":"c"}`, "{\"path\":\"/a\",\"revision\":\"r\",\"line\":1,\"continued\":true,\"nextCursor\":null}\ny\n"))
}

func FuzzOpenCode(f *testing.F) {
	fuzz(f, transcript.OpenCode, `{"info":{"directory":"/w"},"messages":[{"parts":[{"type":"tool","tool":"write","callID":"1","state":{"status":"completed","input":{"filePath":"/w/a","content":"x"},"output":"ok"}}]}]}`)
}

func FuzzOpenHands(f *testing.F) {
	fuzz(f, transcript.OpenHands, `[{"id":1,"action":"edit","args":{"command":"view","path":"/workspace/a","view_range":[2,3]}},{"cause":1,"observation":"read","content":"  2\tx\n  3\ty"}]`,
		`{"kind":"ActionEvent","tool_name":"file_editor","tool_call_id":"1","action":{"command":"create","path":"/a","file_text":"x"}}
{"kind":"ObservationEvent","tool_call_id":"1","observation":{"content":"ok"}}`)
}

func FuzzOTel(f *testing.F) {
	fuzz(f, transcript.OTel, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"readFile"}},{"key":"gen_ai.tool.call.arguments","value":{"kvlistValue":{"values":[{"key":"path","value":{"stringValue":"/a"}},{"key":"limit","value":{"intValue":"3"}}]}}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"not-found: no"}}]}]}]}]}`)
}

func FuzzSWEAgent(f *testing.F) {
	fuzz(f, transcript.SWEAgent, `{"trajectory":[{"action":"str_replace_editor create /w/a --file_text 'x y'","observation":"ok","state":{"working_dir":"/w"}}]}`,
		`{"history":[{"tool_calls":[{"id":"1","function":{"name":"str_replace_editor","arguments":"{\"command\":\"view\",\"path\":\"/a\"}"}}]},{"role":"tool","tool_call_ids":["1"],"content":"OBSERVATION:\n1\tx"}]}`)
}
