package agentsim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// Between the steps others write and remove files, also where tools may only
// read, and what is remembered changes.
func TestChanges(t *testing.T) {
	got := replay(t, scenario(`
stores: {routes: {/docs: {readOnly: true}, /disk: {store: failing}}}
memory: {work: {summary: "Goal: old."}}
turns:
  - ask: Read it.
    conversation: work
    change:
      write: {/docs/a: "second\n", /new: {repeat: "{n}\n", count: 100}, /disk/x: y}
      remove: /b
      memory: {work: {summary: "Goal: new."}}
    model:
      - toolCall: {name: readFile, input: {path: /docs/a}}
      - json: {kind: answer, brief: tell}
      - text: Read.
    expect: {prompt: {contains: "Goal: new.", lacks: "Goal: old."}, tools: [{contains: second}], files: {/b: absent, /new: {contains: "99\n"}}}
  - ask: And now?
    conversation: work
    change: {memory: {work: absent}}
    model: [{json: {kind: answer, brief: tell}}, {text: Nothing.}]
    expect: {prompt: {lacks: ["Goal: new.", Read.]}, memory: {summary: "", recent: [{ask: And now?}]}}
`, "/docs/a", "first\n", "/b", "x\n"))
	for _, want := range []string{
		"-- change before turn 1 --\nwrite /disk/x: y\nwrite /docs/a: \"second\\n\"\nwrite /new: 292 bytes\nremove /b\nmemory of \"work\"\n",
		"-- change before turn 2 --\nmemory of \"work\"\n",
		"-- file /docs/a --\nsecond\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	got = replay(t, scenario(`
calls:
  - {tool: readFile, input: {path: /a, limit: 1}}
  - {tool: readFile, change: {write: {/a: "x\n"}}, input: {path: /a, cursor: <cursor:1>}, expect: {error: stale-cursor}}
`, "/a", "1\n2\n"))
	if want := "-- change before 2 readFile --\nwrite /a: \"x\\n\"\n-- 2 readFile --\n"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
	for yaml, want := range map[string]string{
		"change: {remove: /no}":                        "change.remove: /no: ",
		"change: {write: {a: x}}":                      "change.write: ",
		"change: {write: {/docs/a: x}}":                "change.write: /docs/a: this path cannot be changed",
		"change: {remove: [/../x]}":                    "change.remove: /../x: ",
		"change: {memory: {'': {raw: x, summary: y}}}": "raw is the whole",
	} {
		text := scenario("stores: {routes: {/docs: {store: static}}}\nturns: [{ask: hi, " + yaml + "}]")
		sc, err := agentsim.Parse("s.txtar", "s", []byte(text))
		if err == nil {
			_, err = agentsim.Replay(t.Context(), sc, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.txtar:6:") {
			t.Errorf("%s: %v; want %q", yaml, err, want)
		}
	}
}

// A turn is cancelled where its script says, nothing of it is remembered, and the
// next turn goes on.
func TestCancelledTurn(t *testing.T) {
	got := replay(t, scenario(`
turns:
  - ask: Read it.
    cancel: true
    model: [{toolCall: {name: readFile, input: {path: /a}}}]
    expect: {memory: {recent: []}, prompt: {contains: water}, files: {/a: "water\n"}}
  - ask: Never mind.
    cancel: true
  - ask: Hi.
    model: [{json: {kind: answer, brief: greet}}, {text: Hello.}]
    expect: {answer: Hello., memory: {recent: [{ask: Hi.}]}}
`, "/a", "water\n"))
	if !strings.Contains(got, "-- turn 1 outcome --\nfailed: the run was cancelled: context canceled\n") {
		t.Errorf("it shows\n%s", got)
	}
	_, err := agentsim.Replay(t.Context(), parse(t, scenario("turns: [{ask: hi, cancel: true, model: [{json: {kind: answer, brief: x}}, {text: a}]}]")), nil)
	if err == nil || !strings.Contains(err.Error(), "the turn ended before it was cancelled") {
		t.Errorf("a turn that ends first gave %v", err)
	}
}

// An agent that is made anew has forgotten its session fallback, not what was
// saved.
func TestRestart(t *testing.T) {
	replay(t, scenario(`
filesystem: {tools: []}
fallback: [{text: c1}, {text: c2}, {text: c3}, {text: c4}]
turns:
  - {ask: "1", model: [{error: {message: gone}}]}
  - {ask: "2", model: [{error: {message: gone}}]}
  - {ask: "3", model: [{error: {message: gone}}]}
  - {ask: "4", expect: {reason: session-fallback, prompt: []}}
  - ask: "5"
    restart: true
    model: [{text: back}, {text: "Goal: count."}]
    expect: {handledBy: device, memory: {recent: [{ask: "3"}, {ask: "4"}, {ask: "5"}]}}
`))
}

// A file's latest revision is what the store has, whether a result has shown it
// or not; a golden shows a number where there is one.
func TestLatestRevision(t *testing.T) {
	got := replay(t, scenario(`
filesystem: {readOnly: false}
calls:
  - {tool: editFile, input: {path: /a, revision: "<rev:/a>", oldText: one, newText: two}}
  - {tool: editFile, change: {write: {/a: "three\n"}}, input: {path: /a, revision: "<rev:1>", oldText: two, newText: x}, expect: {error: conflict}}
  - {tool: deleteFile, input: {path: /a, revision: "<rev:/a>"}}
`, "/a", "one\n"))
	if !strings.Contains(got, `input: {"path":"/a","revision":"<rev:/a>","oldText":"one"`) {
		t.Errorf("it shows\n%s", got)
	}
	got = replay(t, scenario(`
filesystem: {readOnly: false}
turns:
  - ask: Delete it.
    approvals: [{tool: deleteFile, answer: yes}]
    model:
      - toolCall: {name: deleteFile, input: {path: /a, revision: "<rev:/a>"}}
      - json: {kind: answer, brief: done}
      - text: Gone.
    expect: {files: {/a: absent}}
`, "/a", "one\n"))
	if strings.Count(got, `"revision":"<rev:/a>"`) < 2 {
		t.Errorf("it shows\n%s", got)
	}
	_, err := agentsim.Replay(t.Context(), parse(t, scenario("filesystem: {readOnly: false}\ncalls: [{tool: deleteFile, input: {path: /no, revision: \"<rev:/no>\"}}]")), nil)
	if err == nil || !strings.Contains(err.Error(), "<rev:/no>: ") {
		t.Errorf("a file that is not there gave %v", err)
	}
}

// Arguments hold repeated texts, which goldens show as they were written.
func TestRepeatedArguments(t *testing.T) {
	got := replay(t, scenario(`
filesystem: {readOnly: false}
turns:
  - ask: Write it.
    approvals: [{tool: writeFile, answer: yes}, {tool: writeFile, answer: yes}]
    model:
      - toolCall: {name: writeFile, input: {path: /a, content: {repeat: "<{n}>\n", count: 400}}}
      - json: {kind: tool, tool: writeFile, brief: again}
      - json: {content: {count: 2, repeat: x}, path: /b}
      - json: {kind: answer, brief: done}
      - text: Done.
    expect: {files: {/a: {contains: ["<1>\n", "<400>\n"]}, /b: xx}}
`))
	if n := strings.Count(got, `{"path":"/a","content":{"repeat":"<{n}>\n","count":400}}`); n < 2 {
		t.Errorf("the arguments are shown %d times as they were written:\n%s", n, got)
	}
	for input, want := range map[string]string{
		"{repeat: x, count: 0}":             "a count of 1 or more",
		"{repeat: x, count: 1.5}":           "",
		"{repeat: x, count: 3, more: true}": "",
	} {
		_, err := agentsim.Parse("s.txtar", "s", []byte(scenario("calls: [{tool: writeFile, input: {content: "+input+"}}]")))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", input, err, want)
		}
	}
}

// A small file cannot ask for gigabytes, neither of seeds nor of arguments nor of
// what is shown.
func TestBoundedMemory(t *testing.T) {
	var seeds, inputs, shown strings.Builder
	for i := range 700 {
		fmt.Fprintf(&seeds, "  /f%d: {repeat: x, count: 100000}\n", i)
		fmt.Fprintf(&inputs, "  - {tool: writeFile, input: {path: /f, content: {repeat: x, count: 100000}}}\n")
	}
	for range 70 {
		fmt.Fprintf(&shown, "  - {tool: readFile, input: {path: /f}}\n")
	}
	for name, yaml := range map[string]string{"seeds": "files:\n" + seeds.String() + look, "inputs": "calls:\n" + inputs.String()} {
		if _, err := agentsim.Parse("s.txtar", "s", []byte(scenario(yaml))); err == nil || !strings.Contains(err.Error(), "64 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := "budgets: {toolResultTokens: 1000000}\nfiles: {/f: {repeat: x, count: 1000000}}\ncalls:\n" + shown.String()
	tr, err := agentsim.Replay(t.Context(), parse(t, scenario(long)), nil)
	if err == nil || !strings.Contains(err.Error(), "over 64 MiB") || len(tr.Steps()) > 140 {
		t.Errorf("a long transcript kept %d entries and gave %v", len(tr.Steps()), err)
	}
}

// recorder is an application's own agent: a function, a hook, a tokenizer and a
// memory, made anew for each scenario.
type recorder struct {
	mu   sync.Mutex
	made []string
}

func (r *recorder) agent(_ context.Context, scenario string) (agentsim.Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made = append(r.made, scenario); strings.HasSuffix(scenario, "broken") {
		return agentsim.Agent{}, errors.New("no licence")
	}
	b, err := memfs.New(nil, nil)
	if err != nil {
		return agentsim.Agent{}, err
	}
	factory, err := memory.Files(b, &memory.FilesOptions{AgentRoots: []string{}})
	return agentsim.Agent{
		Functions: []turn.Function{{
			Name: "weather", Description: "Tells the weather.", Schema: json.RawMessage(`{"type":"object","properties":{"day":{"type":"string"}}}`), RequiresApproval: true,
			Call: func(_ context.Context, _ string, input json.RawMessage) (string, error) {
				return "rain " + string(input), nil
			},
		}},
		Hooks: []turn.Hooks{{Name: "polite", AfterAnswer: func(_ context.Context, _ turn.RunInfo, answer string) (string, error) {
			return answer + " Thank you.", nil
		}}},
		CountTokens: func(text string) int { return len(text) },
		MemoryFor:   factory,
	}, err
}

func TestApplicationsAgent(t *testing.T) {
	const text = `
window: 40000
memory: {work: {summary: "Goal: water."}}
turns:
  - ask: Will it rain?
    conversation: work
    approvals: [{tool: weather, answer: yes}]
    model:
      - toolCall: {name: weather, input: {day: Monday}}
      - json: {kind: answer, brief: tell}
      - text: Yes.
    expect: {answer: Yes. Thank you., tools: [{tool: weather, contains: rain}], prompt: {contains: "Goal: water."}, memory: {summary: "Goal: water.", recent: [{answer: Yes. Thank you.}]}}
  - ask: Sure?
    conversation: work
    restart: true
    change: {memory: {work: {summary: "Goal: dry."}}}
    model: [{json: {kind: answer, brief: tell}}, {text: Sure.}]
    expect: {prompt: {contains: "Goal: dry.", lacks: Will it rain}}
`
	var r recorder
	opts := &agentsim.ReplayOptions{NewAgent: r.agent}
	tr, err := agentsim.Replay(t.Context(), parse(t, scenario(text)), opts)
	if err != nil {
		t.Fatal(err)
	}
	got := string(tr.Golden())
	for _, want := range []string{"-- memory of \"work\" --\n{\n  \"summary\": \"Goal: dry.\",", "(tokenizer)", "-- 1.2 weather --\nstatus: ok\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	calls, err := agentsim.Replay(t.Context(), parse(t, scenario("calls: [{tool: readFile, input: {path: /a}}]", "/a", "x\n")), opts)
	if err != nil || !strings.Contains(string(calls.Golden()), "page 1: 87 of 512 tokens") {
		t.Errorf("calls do not count with the application's tokenizer: %v\n%s", err, calls.Golden())
	}
	for name, tt := range map[string]struct{ name, yaml, want string }{
		"no agent":   {"area/broken", "turns: [{ask: hi}]", "no licence"},
		"raw memory": {"area/s", "memory: {'': {raw: x}}\nturns: [{ask: hi}]", "raw and absent are for the built-in memory"},
		"absent":     {"area/s", "turns: [{ask: hi, change: {memory: {'': absent}}}]", "raw and absent are for the built-in memory"},
		"two tools":  {"area/s", "filesystem: {tools: []}\nturns: [{ask: hi, approvals: [{tool: wether, answer: no}]}]", "does not offer"},
	} {
		sc, err := agentsim.Parse("s.txtar", tt.name, []byte(scenario(tt.yaml)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agentsim.Replay(t.Context(), sc, opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
	if len(r.made) != 6 {
		t.Errorf("agents were made for %v", r.made)
	}
}

// A memory that lives in the process is gone after a restart, as it would be.
func TestRestartForgetsTheProcess(t *testing.T) {
	made := 0
	opts := &agentsim.ReplayOptions{NewAgent: func(context.Context, string) (agentsim.Agent, error) {
		return agentsim.Agent{MemoryFor: func(context.Context, string, bool) (memory.Memory, error) {
			made++
			return &memory.InProcess{}, nil
		}}, nil
	}}
	const text = `
filesystem: {tools: []}
turns:
  - {ask: One., model: [{text: "1"}]}
  - {ask: Two., model: [{text: "2"}], expect: {prompt: {contains: One.}}}
  - {ask: Three., restart: true, model: [{text: "3"}], expect: {prompt: {lacks: One.}, memory: {recent: [{ask: Three.}]}}}
`
	if _, err := agentsim.Replay(t.Context(), parse(t, scenario(text)), opts); err != nil || made != 2 {
		t.Errorf("%d memories were made, %v", made, err)
	}
}
