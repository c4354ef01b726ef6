package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
)

// serve starts a scripted model for a test.
func serve(t testing.TB, opts *wire.Options, scripts ...wire.Script) (*wire.Server, string) {
	t.Helper()
	server := wire.NewServer(scripts, opts)
	e, err := wire.Listen(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, e.URL
}

func schema(names ...string) json.RawMessage {
	var props []string
	for _, n := range names {
		props = append(props, fmt.Sprintf(`%q:{"type":"string"}`, n))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`)
}

var ownTools = []wire.Tool{
	{Name: "grep", Description: "Find lines that contain a literal text.", Schema: schema("pattern", "path")},
	{Name: "readFile", Description: "Read an excerpt of a file.", Schema: schema("path", "cursor")},
}

func call(name, input string) wire.Call { return wire.Call{Name: name, Input: json.RawMessage(input)} }

func ask(text string) wire.Request {
	return wire.Request{Model: "m", System: "Find things.", Tools: ownTools, Messages: []wire.Message{{Role: wire.User, Text: text}}}
}

// each runs a test on every protocol, streaming and not.
func each(t *testing.T, test func(t *testing.T, c wireclient.Client)) {
	for _, p := range wire.Protocols() {
		for _, stream := range []bool{false, true} {
			name := string(p)
			if stream {
				name += "-stream"
			}
			t.Run(name, func(t *testing.T) { test(t, wireclient.Client{Protocol: p, Stream: stream}) })
		}
	}
}

// A conversation with everything: text, calls of both kinds, an error and a cut
// that are asked again, and a text at the end.
func TestServerConversation(t *testing.T) {
	const long = "A text that is longer than one piece — with “characters” that are longer than one byte: öäü€."
	each(t, func(t *testing.T, c wireclient.Client) {
		server, url := serve(t, &wire.Options{Tools: ownTools}, wire.Script{When: "typo", Replies: []wire.Reply{
			{Text: "Looking.", Calls: []wire.Call{call("grep", `{"pattern": "a \"quoted\" ü, long enough for more than one piece"}`)}},
			{Error: &wire.Failure{Status: 429, RetryAfter: seconds(0)}},
			{Text: "half an answ", Cut: true},
			{Calls: []wire.Call{call("readFile", `{"path":"/a.md"}`), call("readFile", `{"path":"/b.md"}`)}},
			{Text: long},
		}})
		c.URL = url
		var ran []string
		talk := wireclient.Talk{Client: &c, Request: ask("Which line has the typo?"), Tries: 3,
			Call: func(_ context.Context, call wire.Call) (string, error) {
				ran = append(ran, call.Name+" "+string(call.Input))
				return "result of " + call.Name, nil
			}}
		text, err := talk.Run(t.Context())
		if err != nil || text != long {
			t.Fatalf("%q, %v", text, err)
		}
		want := []string{
			`grep {"pattern":"a \"quoted\" ü, long enough for more than one piece"}`,
			`readFile {"path":"/a.md"}`, `readFile {"path":"/b.md"}`,
		}
		if diff := cmp.Diff(want, ran); diff != "" {
			t.Error(diff)
		}
		report := server.Report()
		if len(report.Problems) > 0 || len(report.Conversations) != 1 {
			t.Fatalf("%+v", report)
		}
		held := report.Conversations[0]
		var retries []int
		for _, x := range held.Exchanges {
			retries = append(retries, x.Retries())
		}
		if diff := cmp.Diff([]int{0, 2, 0}, retries); diff != "" {
			t.Error(diff)
		}
		last := held.Exchanges[2].Request
		if last.Protocol != c.Protocol || last.System != "Find things." || len(last.Messages) != 6 || held.Exchanges[2].New != 3 {
			t.Errorf("%+v", last)
		}
		if !c.Stream && last.Stream || c.Stream && !last.Stream {
			t.Errorf("Stream is %t", last.Stream)
		}
	})
}

// Two conversations at once get their own replies, in whichever order they ask,
// and a request beside the work takes none of them.
func TestServerConversationsAtOnce(t *testing.T) {
	for range 50 {
		server, url := serve(t, nil,
			wire.Script{When: "first", Replies: []wire.Reply{{Calls: []wire.Call{call("grep", `{"pattern":"1"}`)}}, {Text: "one"}}},
			wire.Script{When: "second", Replies: []wire.Reply{{Calls: []wire.Call{call("grep", `{"pattern":"2"}`)}}, {Text: "two"}}},
			wire.Script{When: "Generate a title", Side: true, Replies: []wire.Reply{{Text: "Title"}}},
		)
		run := func(question, want string) error {
			talk := wireclient.Talk{Client: &wireclient.Client{URL: url, Protocol: wire.Chat}, Request: ask(question),
				Call: func(_ context.Context, c wire.Call) (string, error) { return string(c.Input), nil }}
			got, err := talk.Run(t.Context())
			if err == nil && got != want {
				err = fmt.Errorf("%s was answered %q, want %q", question, got, want)
			}
			return err
		}
		var wg sync.WaitGroup
		for question, want := range map[string]string{
			"the first": "one", "the second": "two",
			"Generate a title for: the first": "Title", "Generate a title for: the second": "Title",
		} {
			wg.Go(func() {
				if err := run(question, want); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		report := server.Report()
		if len(report.Problems) > 0 {
			t.Fatal(report.Problems)
		}
		var order []string
		for _, c := range report.Conversations {
			order = append(order, fmt.Sprint(c.Script, len(c.Exchanges)))
		}
		if diff := cmp.Diff([]string{"0 2", "1 2", "2 1", "2 1"}, order); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A request that no script is for says so to the client and in the report.
func TestServerProblems(t *testing.T) {
	one := wire.Script{When: "typo", Replies: []wire.Reply{{Text: "Fixed."}}}
	two := wire.Script{When: "typo", Replies: []wire.Reply{{Text: "Looking."}, {Text: "Fixed."}}}
	for _, tt := range []struct {
		name    string
		script  wire.Script
		ask     func(ctx context.Context, c *wireclient.Client) error
		answers string // part of what the client is told
		reports string // part of the report
	}{
		{"no script", one, func(ctx context.Context, c *wireclient.Client) error {
			return expect400(ctx, c, ask("Write a poem"))
		}, "no script fits the request whose last message is of the user: \"Write a poem\"; there is script 1 (when \"typo\")", "no script fits"},
		{"no reply left", one, func(ctx context.Context, c *wireclient.Client) error {
			req := ask("the typo")
			reply, err := c.Ask(ctx, &req)
			if err != nil {
				return err
			}
			req.Messages = append(req.Messages, wire.Message{Role: wire.Assistant, Text: reply.Text}, wire.Message{Role: wire.User, Text: "And now?"})
			return expect400(ctx, c, req)
		}, "has no reply left: all 1 were given", "no reply left"},
		{"reply left over", two, func(ctx context.Context, c *wireclient.Client) error {
			req := ask("the typo")
			_, err := c.Ask(ctx, &req)
			return err
		}, "", "only 1 of 2 replies were asked for, the next would be text \"Fixed.\""},
		{"never used", two, func(context.Context, *wireclient.Client) error { return nil }, "", "was never used"},
		{"same again", one, func(ctx context.Context, c *wireclient.Client) error {
			req := ask("the typo")
			if _, err := c.Ask(ctx, &req); err != nil {
				return err
			}
			return expect400(ctx, c, req)
		}, "taken by a conversation", "taken by a conversation"},
		{"shortened history", two, func(ctx context.Context, c *wireclient.Client) error {
			req := ask("the typo")
			if _, err := c.Ask(ctx, &req); err != nil {
				return err
			}
			req.Messages = []wire.Message{{Role: wire.User, Text: "Summary: the typo"}, {Role: wire.Assistant, Text: "Looking."}, {Role: wire.User, Text: "Go on."}}
			return expect400(ctx, c, req)
		}, "if the agent shortened its history, give the conversation that begins so a script of its own", "shortened its history"},
		{"tool not offered", wire.Script{Replies: []wire.Reply{{Calls: []wire.Call{call("bash", `{}`)}}}}, func(ctx context.Context, c *wireclient.Client) error {
			return expect400(ctx, c, ask("x"))
		}, "calls the tool bash, which the request does not offer; it offers grep, readFile", "calls the tool bash"},
		{"bad script", wire.Script{}, func(ctx context.Context, c *wireclient.Client) error {
			return expect400(ctx, c, ask("x"))
		}, "script 1 (for every conversation) has no reply", "has no reply, give it one"},
		{"unknown endpoint", one, func(ctx context.Context, c *wireclient.Client) error {
			resp, err := http.Get(c.URL + "/v1/embeddings")
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusNotFound {
				return fmt.Errorf("status %d", resp.StatusCode)
			}
			return errors.New(string(body))
		}, "there is no GET /v1/embeddings here", "the agent asked for GET /v1/embeddings, which a scripted model does not have"},
		{"no request", one, func(ctx context.Context, c *wireclient.Client) error {
			resp, err := http.Post(c.URL+"/v1/messages", "application/json", strings.NewReader(`{"messages":`))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			return fmt.Errorf("%d %s", resp.StatusCode, body)
		}, "400", "the body is no messages request"},
		{"another form", one, func(ctx context.Context, c *wireclient.Client) error {
			resp, err := http.Post(c.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":"x"}`))
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}, "", "the body is no chat request: messages cannot be of the JSON type string"},
		{"no object", one, func(ctx context.Context, c *wireclient.Client) error {
			resp, err := http.Post(c.URL+"/v1/chat/completions", "application/json", strings.NewReader(`[]`))
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}, "", "the body is no chat request: the value cannot be of the JSON type array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, url := serve(t, nil, tt.script)
			err := tt.ask(t.Context(), &wireclient.Client{URL: url, Protocol: wire.Messages})
			if tt.answers == "" && err != nil || tt.answers != "" && (err == nil || !strings.Contains(err.Error(), tt.answers)) {
				t.Errorf("the client was told %v, want %q", err, tt.answers)
			}
			if got := report(server); !strings.Contains(got, tt.reports) {
				t.Errorf("the report has %q, want %q", got, tt.reports)
			}
		})
	}
}

// report is all that did not go as scripted.
func report(s *wire.Server) string {
	r := s.Report()
	return strings.Join(wire.Texts(slices.Concat(r.Problems, r.LeftOver)), "\n")
}

// expect400 returns what the server refused a request with.
func expect400(ctx context.Context, c *wireclient.Client, req wire.Request) error {
	reply, err := c.Ask(ctx, &req)
	switch {
	case err != nil:
		return err
	case reply.Error == nil || reply.Error.Status != http.StatusBadRequest:
		return fmt.Errorf("answered %+v", reply)
	}
	return errors.New(reply.Error.Message)
}

// A client that gives up while the answer is delayed and asks again gets the next
// reply: it is a retry, for nobody saw the first.
func TestServerRetryAfterClientGaveUp(t *testing.T) {
	begun := make(chan struct{})
	opts := &wire.Options{NewNames: func() wire.Names { close(begun); return nil }}
	server, url := serve(t, opts, wire.Script{Replies: []wire.Reply{{Text: "late", Delay: time.Hour}, {Text: "soon"}}})
	c := &wireclient.Client{URL: url, Protocol: wire.Chat}
	req := ask("x")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { _, err := c.Ask(ctx, &req); gone <- err }()
	<-begun
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	reply, err := c.Ask(t.Context(), &req)
	if err != nil || reply.Text != "soon" {
		t.Fatalf("%+v, %v", reply, err)
	}
	report := server.Report()
	if len(report.Problems) > 0 || report.Conversations[0].Exchanges[0].Retries() != 1 {
		t.Errorf("%+v", report)
	}
}

// Earlier answers that a request only refers to are put in: items by id, and all
// that led to an answer.
func TestServerCompletesReferences(t *testing.T) {
	server, url := serve(t, nil, wire.Script{Replies: []wire.Reply{{Text: "One."}, {Text: "Two."}, {Text: "Three."}}})
	post := func(body string) (id, item string) {
		t.Helper()
		resp, err := http.Post(url+"/responses", "application/json", strings.NewReader(body)) // the path without /v1
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var out struct {
			ID     string
			Output []struct{ ID string }
		}
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || len(out.Output) == 0 {
			t.Fatalf("status %d, %v", resp.StatusCode, err)
		}
		return out.ID, out.Output[0].ID
	}
	_, item := post(`{"input":"first"}`)
	id, _ := post(fmt.Sprintf(`{"input":[{"role":"user","content":"first"},{"type":"item_reference","id":%q},{"role":"user","content":"second"}]}`, item))
	post(fmt.Sprintf(`{"previous_response_id":%q,"input":"third"}`, id))
	report := server.Report()
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	var texts []string
	for _, m := range report.Conversations[0].Exchanges[2].Request.Messages {
		texts = append(texts, string(m.Role)+": "+m.Text)
	}
	if diff := cmp.Diff([]string{"user: first", "assistant: One.", "user: second", "assistant: Two.", "user: third"}, texts); diff != "" {
		t.Error(diff)
	}
}

// What clients ask beside answers.
func TestServerEndpoints(t *testing.T) {
	_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{{Text: "x"}}})
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/v1/models", "", `"id":"scripted"`},
		{"GET", "/models", "", `"object":"list"`},
		{"GET", "/api/tags", "", `"name":"scripted:latest"`},
		{"GET", "/api/version", "", `"version"`},
		{"POST", "/api/show", `{}`, `"tools"`},
		{"POST", "/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"12345678"}]}`, `{"input_tokens":2}`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, url+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || !bytes.Contains(body, []byte(tt.want)) {
			t.Errorf("%s %s: %d %s, want %s", tt.method, tt.path, resp.StatusCode, body, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	half := 500 * time.Millisecond
	for _, tt := range []struct {
		reply wire.Reply
		want  string
	}{
		{wire.Reply{Text: "x", Calls: []wire.Call{call("grep", "{}")}, Cut: true, Delay: 1}, ""},
		{wire.Reply{Calls: []wire.Call{{Name: "grep"}}}, ""},
		{wire.Reply{Calls: []wire.Call{call("", "{}")}}, "needs the name of a tool"},
		{wire.Reply{Calls: []wire.Call{call("grep", "[]")}}, "input of the call of grep is no JSON object"},
		{wire.Reply{Calls: []wire.Call{call("grep", "{")}}, "is no JSON object"},
		{wire.Reply{Error: &wire.Failure{Status: 200}}, "status 200 is no error"},
		{wire.Reply{Error: &wire.Failure{Status: 429, RetryAfter: &half}}, "no whole number of seconds"},
		{wire.Reply{Error: &wire.Failure{Status: 500}, Text: "x"}, "make it two replies"},
		{wire.Reply{Delay: -1}, "below 0"},
	} {
		err := wire.Check([]wire.Script{{Replies: []wire.Reply{tt.reply}}})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.reply, err, tt.want)
		}
	}
}
