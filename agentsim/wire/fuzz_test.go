package wire_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// fuzzDecode feeds a decoder whatever there is: it reads or refuses, and what it
// reads can be counted and costs no fewer tokens than its parts.
func fuzzDecode(f *testing.F, p wire.Protocol) {
	for _, name := range recordedRequests(f) {
		if protocolIn(name) == p {
			f.Add(string(readFixture(f, "requests", name)))
		}
	}
	f.Add(`{"messages":[{"role":"tool","content":[{"type":"tool_result","content":null}]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		req, err := wire.Decode(p, []byte(body))
		if err != nil {
			if req != nil {
				t.Error("a request beside an error")
			}
			return
		}
		tokens := req.Count(wire.FourBytes)
		if len(tokens.Messages) != len(req.Messages) || tokens.Total() < tokens.System {
			t.Errorf("%d messages are counted as %v", len(req.Messages), tokens)
		}
		again, err := wire.Decode(p, []byte(body))
		if diff := cmp.Diff(req, again, decodedOnly); err != nil || diff != "" {
			t.Errorf("the same body is another request: %v %s", err, diff)
		}
	})
}

func FuzzDecodeChat(f *testing.F)      { fuzzDecode(f, wire.Chat) }
func FuzzDecodeResponses(f *testing.F) { fuzzDecode(f, wire.Responses) }
func FuzzDecodeMessages(f *testing.F)  { fuzzDecode(f, wire.Messages) }
func FuzzDecodeOllama(f *testing.F)    { fuzzDecode(f, wire.Ollama) }

// FuzzFold feeds every protocol's reader of answers.
func FuzzFold(f *testing.F) {
	paths, err := filepath.Glob("testdata/answers/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		resp, body := readAnswer(f, name)
		for i, p := range wire.Protocols() {
			if strings.HasPrefix(name, string(p)) {
				f.Add(i, resp.StatusCode, resp.Header.Get("Content-Type"), string(body))
			}
		}
	}
	f.Fuzz(func(t *testing.T, protocol, status int, kind, body string) {
		p := wire.Protocols()[uint(protocol)%4]
		reply, err := wire.Fold(p, status, http.Header{"Content-Type": {kind}}, []byte(body))
		if err == nil && reply.Cut && len(reply.Calls) > 0 {
			t.Error("a cut answer has calls")
		}
	})
}
