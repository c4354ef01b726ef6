package blackbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

func inGoKind(agent blackbox.Agent) agentsim.Kind {
	return blackbox.Kind(&blackbox.Options{Agent: agent})
}

const header = "-- scenario.yaml --\nversion: 1\n"

// What a scenario cannot say is an error with a place.
func TestScenarioErrors(t *testing.T) {
	const hello = "wire: [{model: [{text: Hello.}]}]\n"
	for _, tt := range []struct{ yaml, want string }{
		{"wire: []", "s.txtar:2:1: wire lists no conversation, write one"},
		{"wire: [{when: x}]", "s.txtar:3:9: a conversation needs a reply of the model"},
		{"wire: [{model: [{}]}]", "a reply of the model is a text, toolCall, toolCalls or an error, and this is none"},
		{"wire: [{model: [{text: x, error: {status: 500}}]}]", "an error has no text, call or cut beside it"},
		{"wire: [{model: [{error: {status: 200}}]}]", "the status 200 is no error"},
		{"wire: [{model: [{error: {status: 429, retryAfter: 500ms}}]}]", "is no whole number of seconds"},
		{"wire: [{model: [{error: {status: 429, retryAfter: soon}}]}]", `retryAfter "soon" is no time`},
		{"wire: [{model: [{text: x, delay: -1s}]}]", `delay "-1s" is no time`},
		{"wire: [{model: [{toolCall: {input: {}}}]}]", "a call needs the name of a tool"},
		{"wire: [{model: [{toolCall: {name: grep, input: [1]}}]}]", "is no JSON object"},
		{"wire: [{model: [{toolCall: {name: grep}, toolCalls: []}]}]", "write one of the two"},
		{hello + "agent: {command: []}", "command names no program"},
		{hello + "agent: {timeout: never}", `timeout "never" is no time`},
		{hello + "mcp: {approve: maybe}", "allowed are client, ask, never"},
		{hello + "mask: [{match: '('}]", "match is no regular expression"},
		{hello + "mask: [{match: 'x*'}]", "match fits nothing at all"},
		{hello + "show: [prompt]", "allowed are system, tools"},
		{hello + "budgets: {retrievedContextTokens: 5}", "means nothing beside wire"},
		{hello + "calls: []", "this has calls and wire"},
		{hello + "model: x", `"model" is not a name that is known here`},
	} {
		_, err := agentsim.Parse("s.txtar", "s", []byte(header+tt.yaml), blackbox.Kind(nil))
		if err == nil || !strings.HasPrefix(err.Error(), "s.txtar:") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.yaml, err, tt.want)
		}
	}
}

// What does not go as scripted is told at the script that it is of.
func TestProblemsSayWhichScript(t *testing.T) {
	for _, tt := range []struct{ name, wire, want string }{
		{"never used", "  - {when: Hello, model: [{text: x}]}\n  - {when: Goodbye, model: [{text: x}]}\n",
			`s.txtar:5:6: script 2 (when "Goodbye") was never used: no conversation began that fits it`},
		{"another took its conversation", "  - {model: [{text: x}]}\n  - {when: Hello, model: [{text: x}]}\n",
			`s.txtar:5:6: script 2 (when "Hello") was never used: the conversation that fits it took script 1 (for every conversation), which is looked at before it`},
		{"left over", "  - {when: Title, side: true, model: [{text: x}]}\n  - {model: [{text: x}, {text: y}]}\n",
			"s.txtar:5:6: script 2 (for every conversation): only 1 of 2 replies were asked for"},
		{"cannot be given", "  - {when: Title, side: true, model: [{text: x}]}\n  - {model: [{toolCall: {name: readFile, input: {path: /a, cursor: <cursor:1>}}}]}\n",
			"s.txtar:5:6: reply 1 of script 2 (for every conversation): <cursor:1> has not been shown"},
		{"none", "  - {when: Goodbye, side: true, model: [{text: x}]}\n  - {when: Goodbye, model: [{text: x}]}\n",
			"s.txtar:4:6: no script fits the request"},
	} {
		agent := inGoKind(func(ctx context.Context, e blackbox.Endpoints) error {
			_ = goAgent{protocol: wire.Chat, ask: "Hello"}.run(ctx, e) // what it is refused is told by the scenario
			return nil
		})
		if _, err := replay(t, header+"wire:\n"+tt.wire, agent); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// An agent in Go that fails, panics, hangs or heeds nothing fails its scenario with
// a sentence.
func TestBadAgentsInGo(t *testing.T) {
	const side = "wire: [{side: true, model: [{text: x}]}]"
	deaf := make(chan struct{})
	t.Cleanup(func() { close(deaf) }) // after the subtests, which run side by side
	for name, tt := range map[string]struct {
		agent blackbox.Agent
		want  string
		brief string // its time, where it is to run out
	}{
		"fails":  {func(context.Context, blackbox.Endpoints) error { return errors.New("no idea") }, "the agent failed: no idea", ""},
		"panics": {func(context.Context, blackbox.Endpoints) error { panic("oh") }, "the agent failed: it panicked: oh", ""},
		"hangs": {func(ctx context.Context, _ blackbox.Endpoints) error { <-ctx.Done(); return ctx.Err() },
			"the agent had not ended after 100ms and was ended", "agent: {timeout: 100ms}\n"},
		"deaf": {func(context.Context, blackbox.Endpoints) error { <-deaf; return nil },
			"does not return though its context has ended: have it heed its context", "agent: {timeout: 100ms}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := replay(t, header+tt.brief+side, inGoKind(tt.agent)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A replay that is stopped ends, and says that it was stopped.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sc, err := agentsim.Parse("s.txtar", "s", []byte(header+"wire: [{side: true, model: [{text: x}]}]"), inGoKind(func(ctx context.Context, _ blackbox.Endpoints) error {
		cancel()
		<-ctx.Done()
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agentsim.Replay(ctx, sc, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Two conversations at once, with a title each, give one golden in every run, and
// number their revisions by themselves.
func TestConversationsAtOnce(t *testing.T) {
	const text = header + `filesystem: {readOnly: false}
wire:
  - when: first
    model:
      - toolCalls: [{name: writeFile, input: {path: /a.md, content: a}}, {name: writeFile, input: {path: /b.md, content: b}}]
      - toolCall: {name: editFile, input: {path: /a.md, revision: <rev:1>, oldText: a, newText: A}}
      - text: One.
  - when: second
    model:
      - toolCall: {name: writeFile, input: {path: /c.md, content: c}}
      - toolCall: {name: editFile, input: {path: /c.md, revision: <rev:1>, oldText: c, newText: C}}
      - text: Two.
  - {when: Title, side: true, model: [{text: A title}]}
expect: {files: {/a.md: A, /b.md: b, /c.md: C}}
`
	agent := func(ctx context.Context, e blackbox.Endpoints) error {
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i, ask := range []string{"The first", "The second", "Title of the first", "Title of the second"} {
			wg.Go(func() { errs[i] = goAgent{protocol: wire.Chat, ask: ask}.run(ctx, e) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	var first string
	for i := range 50 {
		golden, err := replay(t, text, inGoKind(agent))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = golden
		}
		if diff := cmp.Diff(first, golden); diff != "" {
			t.Fatalf("run %d shows something else:\n%s", i+1, diff)
		}
	}
	if !strings.Contains(first, "-- 3.1 --") || !strings.Contains(first, "-- 3 (2).1 --") && !strings.Contains(first, "conversation 3 (2)") {
		t.Error(first)
	}
}

// What the scenario says of the server holds: structured content, and changes that
// nobody approves, which no tool sees.
func TestServerOptions(t *testing.T) {
	const text = header + `filesystem: {readOnly: false}
mcp: {structured: true, approve: never}
show: [system, tools]
mask: [{match: 'number [0-9]+', as: number <n>}]
wire:
  - model:
      - toolCalls: [{name: glob, input: {pattern: "/**"}}, {name: writeFile, input: {path: /a.md, content: a}}]
      - text: Done.
expect: {files: {/a.md: absent}}
-- files/guide.md --
x
`
	agent := func(ctx context.Context, e blackbox.Endpoints) error {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: e.MCP}, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		structured := 0
		a := goAgent{protocol: wire.Messages, ask: "Ask number 17 of 2026-11-30, please.", call: func(ctx context.Context, _ blackbox.Endpoints, c wire.Call) (string, error) {
			res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Input})
			if err != nil {
				return "", err
			}
			if res.StructuredContent != nil {
				structured++
			}
			return res.Content[0].(*mcp.TextContent).Text, nil
		}}
		if err := a.run(ctx, e); err != nil {
			return err
		}
		if structured != 1 {
			return fmt.Errorf("%d results had structured content", structured)
		}
		return nil
	}
	golden, err := replay(t, text, inGoKind(agent))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"writeFile {\"content\":\"a\",\"path\":\"/a.md\"}: the tool was not called, shown ",
		"for writeFile, which was not called\nnot-approved: changes are never approved here",
		"\nAsk number <n> of <date>, please.\n",
		"-- 1.1 system (quoted) --\n>Work in <work>\\\n",
		"-- 1.1 tools --\nglob\nFind files by path pattern",
	} {
		if !strings.Contains(golden, want) {
			t.Errorf("there is no %q in\n%s", want, golden)
		}
	}
}

// The scenario's budget holds for results, and what a client makes of them can
// break it.
func TestShownWithinBudget(t *testing.T) {
	const text = header + `budgets: {toolResultTokens: 64}
files: {/long.md: {repeat: "line {n} of it, \"quoted\"\n", count: 100}}
wire:
  - model: [{toolCall: {name: readFile, input: {path: /long.md, limit: 100}}}, {text: Done.}]
    expect: {shownWithinBudget: true}
`
	for name, tt := range map[string]struct {
		show func(text string) string
		want string
	}{
		"whole":   {func(text string) string { return text }, ""},
		"changed": {func(text string) string { return fmt.Sprintf("%q", text) }, "where the budget is 64 and expect.shownWithinBudget is true: the client shows it changed"},
		"twice":   {func(text string) string { return text + text }, "the client shows it twice"},
	} {
		t.Run(name, func(t *testing.T) {
			a := goAgent{protocol: wire.Ollama, ask: "Read.", call: func(ctx context.Context, e blackbox.Endpoints, c wire.Call) (string, error) {
				text, err := inGo(ctx, e, c)
				return tt.show(text), err
			}}
			golden, err := replay(t, text, inGoKind(a.run))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if !strings.Contains(golden, "\nreturned 64, shown ") || !strings.Contains(golden, ", "+name+"\n") {
				t.Error(golden)
			}
		})
	}
}

// What must be so at the end is looked at, whatever the golden says.
func TestExpectations(t *testing.T) {
	agent := goAgent{protocol: wire.Responses, ask: "Write."}
	for _, tt := range []struct{ expect, want string }{
		{"{files: {/a.md: a}}", ""},
		{"{files: {/a.md: b}}", `the file /a.md is "a" where expect.files is "b"`},
		{"{files: {/a.md: absent}}", "the file /a.md is there, where expect.files says absent"},
		{"{stdout: hello}", `the agent's stdout does not contain "hello", as expect.stdout asks`},
		{"{stderr: [a, b]}", `the agent's stderr does not contain "a", as expect.stderr asks`},
		{"{exit: 1}", "the agent ended with status 0 where expect.exit is 1"},
	} {
		text := header + "filesystem: {readOnly: false}\nwire: [{model: [{toolCall: {name: writeFile, input: {path: /a.md, content: a}}}, {text: Done.}]}]\nexpect: " + tt.expect
		_, err := replay(t, text, inGoKind(agent.run))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.expect, err, tt.want)
		}
	}
}

// What a client puts around a result is masked, and the result is not.
func TestMaskAroundResults(t *testing.T) {
	const text = header + `wire: [{model: [{toolCall: {name: readFile, input: {path: /log.md}}}, {text: Done.}]}]
-- files/log.md --
2026-11-30 it took 17 seconds
`
	a := goAgent{protocol: wire.Chat, ask: "Read.", call: func(ctx context.Context, e blackbox.Endpoints, c wire.Call) (string, error) {
		text, err := inGo(ctx, e, c)
		return "Wall time: 0.0037 seconds\n" + text + "in " + e.Work + " at " + e.Model, err
	}}
	golden, err := replay(t, text, inGoKind(a.run))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Wall time: <duration>\n", "\n>2026-11-30 it took 17 seconds\n", ">in <work> at http://<address>"} {
		if !strings.Contains(golden, want) {
			t.Errorf("there is no %q in\n%s", want, golden)
		}
	}
}
