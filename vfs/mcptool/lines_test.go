package mcptool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`

// A line that is no message is answered in words, and the session goes on.
func TestBadLines(t *testing.T) {
	l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), nil))
	l.begin()
	big := strings.Repeat("x", mcptool.MaxMessage)
	for _, tt := range []struct {
		name, line, id string
		code           int64
		want           string
	}{
		{"no JSON", `{"jsonrpc":"2.0","id":7,"method":`, "7", -32700, "is no JSON"},
		{"text", `hello`, "null", -32700, "is no JSON"},
		{"a list", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "null", -32600, "each message on a line of its own"},
		{"no message", `{"id":"a b"}`, `"a b"`, -32600, "no JSON-RPC 2.0 message"},
		{"a number", `5`, "null", -32600, "no JSON-RPC 2.0 message"},
		{"too large", `{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x","content":"` + big + `"}}}`, "12", -32600, "larger than 4194304 bytes"},
		{"too large, no id", `{"params":"` + big + `","id":12}`, "null", -32600, "larger than 4194304 bytes"},
	} {
		f := l.ask(tt.line)
		if f.Error == nil || f.Error.Code != tt.code || !strings.Contains(f.Error.Message, tt.want) || string(f.ID) != tt.id {
			t.Errorf("%s: id %s, %+v, want id %s, %d, %q", tt.name, f.ID, f.Error, tt.id, tt.code, tt.want)
		}
		if f := l.ask(ping); string(f.ID) != `"ping"` || f.Error != nil {
			t.Fatalf("%s: after it a ping gives %+v", tt.name, f)
		}
	}
	<-l.send("\n \r\n") // blank lines are nothing
	if f := l.ask(ping); f.Error != nil {
		t.Errorf("after blank lines a ping gives %+v", f)
	}
}

// The greatest message is taken, and the least greater one refused.
func TestMaxMessage(t *testing.T) {
	l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), nil))
	l.begin()
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x","content":"`, `"}}}`
	for extra, want := range []string{`too-large: `, "larger than"} {
		text := strings.Repeat("x", mcptool.MaxMessage-len(head)-len(tail)+extra)
		f := l.ask(head + text + tail)
		got := string(f.Result)
		if f.Error != nil {
			got = f.Error.Message
		}
		if !strings.Contains(got, want) {
			t.Errorf("%d bytes over the limit: %.200s, want %s", extra, got, want)
		}
	}
}

// Whatever a client sends, what comes after it is answered.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "{}", "[]", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"id":null}`, "\x00", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":null}`, `{"jsonrpc":"2.0","id":"ping","method":"ping"}`} {
		f.Add([]byte(s))
	}
	s := newServer(f, newTools(f, agenttool.Options{Writable: true}), &mcptool.Options{Resources: true})
	f.Fuzz(func(t *testing.T, line []byte) {
		in := io.MultiReader(strings.NewReader(initialize+"\n"), bytes.NewReader(line), strings.NewReader("\n"+ping+"\n"))
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), io.NopCloser(in), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `{"jsonrpc":"2.0","id":"ping","result":`) && !bytes.Contains(line, []byte("ping")) {
			t.Fatalf("after %q nothing is answered:\n%s", line, &out)
		}
	})
}

// Whatever the arguments of a call, the answer is a result, whose error has a
// code that is known.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `[]`, `{"path":"/docs/guide.md"}`, `{"pattern":"/**","cursor":""}`, `{"pattern":"\ud800"}`, `{"path":1e999}`, `{"path":"/a","content":"x"}`, `{"path":"/a","path":"/b"}`, "{\"path\":\"\xff\"}"} {
		f.Add("readFile", []byte(s))
		f.Add("writeFile", []byte(s))
		f.Add("grep", []byte(s))
	}
	s := newServer(f, newTools(f, agenttool.Options{Writable: true}), nil)
	f.Fuzz(func(t *testing.T, tool string, args []byte) {
		if !json.Valid(args) || bytes.ContainsAny(args, "\r\n") {
			t.Skip("the line would be no message, which FuzzLines is about")
		}
		name, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		in := fmt.Sprintf("%s\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":%s,\"arguments\":%s}}\n", initialize, name, args)
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(in)), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var f struct {
				frame
				Result struct {
					IsError bool
					Content []struct{ Text string }
				} `json:"result"`
			}
			if err := json.Unmarshal(line, &f); err != nil {
				t.Fatal(err)
			}
			if string(f.ID) != "1" {
				continue
			}
			if f.Error != nil {
				if f.Error.Code != -32602 {
					t.Fatalf("%s %s: %+v", tool, args, f.Error)
				}
				return
			}
			if len(f.Result.Content) != 1 || f.Result.IsError && strings.Index(f.Result.Content[0].Text, ": ") < 5 {
				t.Fatalf("%s %s: %s", tool, args, line)
			}
			return
		}
		t.Fatalf("%s %s has no answer:\n%s", tool, args, &out)
	})
}
