package mcptool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// httpExchange is a request to a server over streamable HTTP, or its answer: both
// have the number of the request.
type httpExchange struct {
	From    string
	HTTP    int
	Method  string
	Status  int
	Headers map[string]string
	Frame   json.RawMessage
}

// What real clients sent over HTTP is answered as their recordings say: the same
// status, the same kind of body, the same texts. Each begins as it does: with a
// question for newer versions, or with a stream before there is a session.
func TestRecordedHTTPClients(t *testing.T) {
	for _, client := range []string{"agents", "ai", "client2", "langchain", "sdk"} {
		t.Run(client, func(t *testing.T) {
			files, err := memfs.New(map[string]string{"/docs/guide.md": guide, "/docs/long.md": recordedLines()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s := newServer(t, newTools(t, agenttool.Options{Backend: files, Writable: true}), &mcptool.Options{Structured: true})
			web := httptest.NewServer(s.Handler(nil))
			t.Cleanup(func() {
				s.Close() // before the HTTP server, which waits for its requests
				web.Close()
			})
			p := &httpReplay{t: t, url: web.URL}
			for _, part := range []string{"discover", "initialize", "tools-list", "tools-call"} {
				data, err := os.ReadFile(fmt.Sprintf("testdata/clients/%s-http-%s.json", client, part))
				if os.IsNotExist(err) && part == "discover" {
					continue // it does not ask
				}
				if err != nil {
					t.Fatal(err)
				}
				var recorded []httpExchange
				if err := json.Unmarshal(data, &recorded); err != nil {
					t.Fatal(err)
				}
				p.all(recorded)
			}
			if p.session == "" || p.compared < 4 {
				t.Errorf("session %q, %d answers compared", p.session, p.compared)
			}
		})
	}
}

// recordedLines are what the recordings read a long page of.
func recordedLines() string {
	var long strings.Builder
	for n := range 400 {
		fmt.Fprintf(&long, "line %d of the guide, \"quoted\"\tand tabbed\n", n+1)
	}
	return long.String()
}

// httpReplay repeats a client's requests, in the session that the server gives.
type httpReplay struct {
	t        *testing.T
	url      string
	session  string
	compared int
}

func (p *httpReplay) all(recorded []httpExchange) {
	p.t.Helper()
	answers := map[int]httpExchange{}
	for _, e := range recorded {
		if e.From == "server" {
			answers[e.HTTP] = e
		}
	}
	for _, e := range recorded {
		if e.From != "client" {
			continue
		}
		if want, ok := answers[e.HTTP]; ok {
			p.compare(e, want)
		} else { // the recording leaves out an answer that is like another client's
			p.compare(e, httpExchange{Status: http.StatusOK})
		}
	}
}

func (p *httpReplay) compare(e, want httpExchange) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel() // a stream stays open until its client leaves
	req, err := http.NewRequestWithContext(ctx, e.Method, p.url, bytes.NewReader(body(e.Frame)))
	if err != nil {
		p.t.Fatal(err)
	}
	for name, value := range e.Headers {
		if name == "mcp-session-id" {
			value = p.session
		}
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if wanted := want.Headers["content-type"]; resp.StatusCode != want.Status || wanted != "" && want.Status == http.StatusOK && kind != wanted {
		p.t.Errorf("request %d, %s %.200s, is answered %d as %q, recorded %d as %q", e.HTTP, e.Method, e.Frame, resp.StatusCode, kind, want.Status, wanted)
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		p.session = id
	}
	if body(want.Frame) == nil {
		return
	}
	p.compared++
	got := p.message(resp)
	if diff := cmp.Diff(answerOf(p.t, want.Frame), answerOf(p.t, got)); diff != "" {
		p.t.Errorf("%.300s (-recorded +got):\n%s", want.Frame, diff)
	}
}

// body is a message, nil where there is none.
func body(frame json.RawMessage) []byte {
	if len(frame) == 0 || string(frame) == "null" {
		return nil
	}
	return frame
}

// message reads the one message that answers a request.
func (p *httpReplay) message(resp *http.Response) json.RawMessage {
	p.t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.HasPrefix(data, "{") {
			return json.RawMessage(data)
		}
	}
	return text
}
