package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
)

// record starts a recorder in front of a model.
func record(t *testing.T, upstream string) (*wire.Recorder, string) {
	t.Helper()
	r, err := wire.NewRecorder(upstream, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := wire.Listen(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return r, e.URL
}

// A conversation with errors and a cut goes through a recorder as it would without
// one, and what it keeps is the script that the model had.
func TestRecorder(t *testing.T) {
	script := []wire.Reply{
		{Text: "Looking.", Calls: []wire.Call{call("grep", `{"pattern":"a"}`)}},
		{Error: &wire.Failure{Status: 429, Message: "slow down", RetryAfter: seconds(0)}},
		{Text: "half an answ", Cut: true},
		{Calls: []wire.Call{call("readFile", `{"path":"/a.md"}`), call("readFile", `{"path":"/b.md"}`)}},
		{Text: "A text that is longer than one piece — with “characters”."},
	}
	each(t, func(t *testing.T, c wireclient.Client) {
		_, model := serve(t, nil, wire.Script{Replies: script})
		recorder, url := record(t, model)
		c.URL = url
		talk := wireclient.Talk{Client: &c, Request: ask("Which line has the typo?"), Tries: 3,
			Call: func(_ context.Context, call wire.Call) (string, error) { return "result of " + call.Name, nil }}
		if text, err := talk.Run(t.Context()); err != nil || text != script[4].Text {
			t.Fatalf("%q, %v", text, err)
		}
		report := recorder.Report(wire.RecordOptions{})
		if len(report.Problems) > 0 || len(report.Conversations) != 1 {
			t.Fatalf("%+v", report)
		}
		var got []wire.Reply
		for _, x := range report.Conversations[0].Exchanges {
			got = append(got, x.Replies...)
		}
		if !c.Stream { // half of a body cannot be read
			got[2].Text = script[2].Text
		}
		if diff := cmp.Diff(script, got, withoutIDs, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// Bytes and headers go both ways as they are, but for those of the connection; an
// address with /v1 serves clients with and without it.
func TestRecorderPassesOn(t *testing.T) {
	const answer = "data: {\"choices\":[{\"delta\":{\"content\":\"odd  spacing\"},\"finish_reason\":\"stop\"}]}\r\n\r\n: a comment\n\ndata: [DONE]\n\n"
	var asked []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("Authorization"), " ", r.Header.Get("X-Hop"), " ", r.Header.Get("Accept-Encoding"), " ", string(body)))
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Request-Id", "7")
		io.WriteString(w, answer)
	}))
	defer upstream.Close()
	for _, tt := range []struct{ base, path, want string }{
		{"/v1", "/v1/chat/completions?a=b", "POST /v1/chat/completions?a=b"},
		{"/v1/", "/chat/completions", "POST /v1/chat/completions"},
		{"", "/v1/chat/completions", "POST /v1/chat/completions"},
		{"/proxy/v1", "/v1/embeddings", "POST /proxy/v1/embeddings"},
		{"/v1", "/api/show", "POST /api/show"},
	} {
		recorder, url := record(t, upstream.URL+tt.base)
		const body = `{ "model":"m", "messages":[{"role":"user","content":"x"}] }`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+tt.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer key")
		req.Header.Set("Connection", "X-Hop")
		req.Header.Set("X-Hop", "x")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != answer || resp.Header.Get("X-Request-Id") != "7" {
			t.Errorf("%s: %q %v %v", tt.path, got, resp.Header, err)
		}
		if last := asked[len(asked)-1]; last != tt.want+" Bearer key   "+body {
			t.Errorf("%s%s was passed on as %q", tt.base, tt.path, last)
		}
		chat := strings.Contains(tt.path, "chat")
		report := recorder.Report(wire.RecordOptions{})
		embeds := strings.Contains(tt.path, "embeddings") // a scripted model will not have it
		if chat != (len(report.Conversations) == 1) || embeds != (len(report.Problems) == 1) {
			t.Errorf("%s: %+v", tt.path, report)
		}
		if chat && report.Conversations[0].Exchanges[0].Replies[0].Text != "odd  spacing" {
			t.Errorf("%+v", report.Conversations[0].Exchanges[0].Replies)
		}
	}
}

// What goes wrong is a sentence, without the address, which may hold a key.
func TestRecorderProblems(t *testing.T) {
	for _, bad := range []string{"", "api.openai.com", "ftp://x", "http://", "http:/u:sk-secret@x/v1", "ftp://x/?key=sk-secret"} {
		if _, err := wire.NewRecorder(bad, nil); err == nil || !strings.Contains(err.Error(), "is no address of a model") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"http://x/v1/chat/completions", "http://x/v1/messages/", "http://x/v1/responses", "http://u:sk-secret@x/sk-secret/api/chat"} {
		if _, err := wire.NewRecorder(bad, nil); err == nil || !strings.Contains(err.Error(), "is where single requests go") || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	recorder, url := record(t, closed.URL+"/sk-secret/v1")
	req := ask("x")
	reply, err := (&wireclient.Client{URL: url, Protocol: wire.Chat}).Ask(t.Context(), &req)
	if err != nil || reply.Error == nil || reply.Error.Status != http.StatusBadGateway {
		t.Errorf("%+v, %v", reply, err)
	}
	if err := recorder.Unanswered(); err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("unanswered: %v", err)
	}
	report := recorder.Report(wire.RecordOptions{})
	if text := strings.Join(wire.Texts(report.Problems), "\n"); !strings.Contains(text, "the model did not answer") || strings.Contains(text, "sk-secret") {
		t.Errorf("%q", text)
	}
	if replies := report.Conversations[0].Exchanges[0].Replies; len(replies) != 1 || replies[0].Error.Status != http.StatusBadGateway {
		t.Errorf("%+v", replies)
	}
}

// Requests that refer to earlier answers by their ids stay in one conversation.
func TestRecorderCompletesReferences(t *testing.T) {
	_, model := serve(t, nil, wire.Script{Replies: []wire.Reply{{Text: "One."}, {Text: "Two."}, {Text: "Three."}}})
	recorder, url := record(t, model)
	post := func(stream bool, body string) (id, item string) {
		t.Helper()
		resp, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if stream {
			_, answer, _ = bytes.Cut(answer, []byte("event: response.completed\ndata: {\"response\":"))
			answer = answer[:bytes.LastIndex(answer, []byte(`,"sequence_number"`))]
		}
		var out struct {
			ID     string
			Output []struct{ ID string }
		}
		if err := json.Unmarshal(answer, &out); err != nil || len(out.Output) == 0 {
			t.Fatalf("%s: %v", answer, err)
		}
		return out.ID, out.Output[0].ID
	}
	_, item := post(false, `{"input":"first"}`)
	id, _ := post(true, fmt.Sprintf(`{"stream":true,"input":[{"role":"user","content":"first"},{"type":"item_reference","id":%q},{"role":"user","content":"second"}]}`, item))
	post(false, fmt.Sprintf(`{"previous_response_id":%q,"input":"third"}`, id))
	report := recorder.Report(wire.RecordOptions{})
	if len(report.Problems) > 0 || len(report.Conversations) != 1 || len(report.Conversations[0].Exchanges) != 3 {
		t.Fatalf("%+v", report)
	}
	if last := report.Conversations[0].Exchanges[2].Request.Messages; len(last) != 5 || last[1].Text != "One." || last[3].Text != "Two." {
		t.Errorf("%+v", last)
	}
}

// A request goes where it was sent to: with the path as it was escaped, and with
// the query of the model's address, in which some have the version.
func TestRecorderTargets(t *testing.T) {
	asked := ""
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = r.RequestURI }))
	defer model.Close()
	for _, tt := range []struct{ address, request, want string }{
		{"", "/v1/models?a=1", "/v1/models?a=1"},
		{"/v1", "/models", "/v1/models"},
		{"/v1", "/v1/models", "/v1/models"},
		{"/v1", "/v1", "/v1"},
		{"/v1/", "/v1/models", "/v1/models"},
		{"/v1//", "/models", "/v1/models"},
		{"/v1#there", "/v1/models", "/v1/models"},
		{"/v1/?api-version=1", "/v1/models", "/v1/models?api-version=1"},
		{"/v1beta/openai", "/v1/models", "/v1beta/openai/models"},
		{"/v1beta/openai/", "/models", "/v1beta/openai/models"},
		{"/api/paas/v4", "/v1/models", "/api/paas/v4/models"},
		{"/vendor", "/v1/models", "/vendor/v1/models"},
		{"/a%2Fb/v1", "/v1/models", "/a%2Fb/v1/models"},
		{"/v1", "/v1/models/org%2Fname", "/v1/models/org%2Fname"},
		{"/proxy/v1", "/api/tags", "/proxy/api/tags"},
		{"/openai/v1?api-version=1", "/models", "/openai/v1/models?api-version=1"},
		{"/openai/v1?api-version=1", "/models?a=1", "/openai/v1/models?api-version=1&a=1"},
	} {
		recorder, err := wire.NewRecorder(model.URL+tt.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		recorder.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, tt.request, nil))
		if asked != tt.want {
			t.Errorf("a model at %q, asked for %s, was asked for %s, want %s", tt.address, tt.request, asked, tt.want)
		}
	}
}
