package agentsim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// What a scenario lists and a replay does not use, or lacks, fails it, at the
// step where that shows.
func TestReplayFailures(t *testing.T) {
	const write = `toolCall: {name: writeFile, input: {path: /x, content: x}}`
	for name, tt := range map[string]struct{ yaml, step, message string }{
		"unexpected error":      {`calls: [{tool: glob, input: {pattern: x}}]`, "1 glob", "expect: {error: invalid-argument}"},
		"unexpected success":    {`calls: [{tool: glob, input: {pattern: /x}, expect: {error: conflict}}]`, "1 glob", "succeeded where expect.error is conflict"},
		"another error":         {`calls: [{tool: glob, input: {pattern: x}, expect: {error: conflict}}]`, "1 glob", "where expect.error is conflict"},
		"over maxTokens":        {`calls: [{tool: glob, input: {pattern: "/**"}, expect: {maxTokens: 9}}]`, "1 glob", "costs 10 tokens where expect.maxTokens is 9"},
		"pages":                 {`calls: [{tool: glob, input: {pattern: "/**"}, expect: {pages: 2}}]`, "1 glob", "gave 1 pages"},
		"contains":              {`calls: [{tool: glob, input: {pattern: "/**"}, expect: {contains: basil}}]`, "1 glob", `what was shown does not contain "basil"`},
		"second call":           {"calls:\n  - {tool: glob, input: {pattern: /x}}\n  - {tool: grep, input: {}}", "2 grep", "pattern"},
		"unseen revision":       {`calls: [{tool: readFile, input: {path: /x, cursor: "<cursor:1>"}}]`, "1 readFile", "<cursor:1> has not been seen yet"},
		"unseen in a turn":      {`turns: [{ask: hi, model: [{json: {kind: tool, tool: readFile, brief: ""}}, {json: {path: /x, cursor: "<rev:7>"}}]}]`, "turn 1", "model call 2 (arguments): <rev:7> has not been seen"},
		"revision zero":         {"filesystem: {readOnly: false}\ncalls: [{tool: deleteFile, input: {path: /x, revision: \"<rev:0>\"}, expect: {error: not-found}}]", "1 deleteFile", "<rev:0> has not been seen yet"},
		"revision of 20 digits": {"calls: [{tool: readFile, input: {path: /x, cursor: \"<cursor:99999999999999999999>\"}}]", "1 readFile", "has not been seen yet"},
		"unseen in a text":      {`turns: [{ask: hi, model: [{json: {kind: tool, tool: readFile, brief: ""}}, {text: '{"path":"/x","cursor":"<cursor:2>"}'}]}]`, "turn 1", "model call 2 (arguments): <cursor:2> has not been seen"},
		"run that failed":       {"filesystem: {tools: []}\nturns: [{ask: hi, conversation: ' ', model: [{text: a}]}]", "turn 1", `the conversation " " is blank`},
		"script ran out":        {`turns: [{ask: hi, model: [{json: {kind: tool, tool: grep, brief: find it}}]}]`, "turn 1", "model call 2, which asks for arguments"},
		"no script":             {`turns: [{ask: hi}]`, "turn 1", "model call 1, which asks for plan"},
		"reply left over":       {`turns: [{ask: hi, model: [{json: {kind: answer, brief: ""}}, {text: a}, {text: b}]}]`, "turn 1", "1 of 3 scripted replies were not used"},
		"approval left over":    {"filesystem: {readOnly: false}\n" + `turns: [{ask: hi, approvals: [{tool: writeFile, answer: yes}], model: [{json: {kind: answer, brief: ""}}, {text: a}]}]`, "turn 1", "1 of 1 approvals were not asked for, the first of them is writeFile on any path"},
		"approval ran out":      {"filesystem: {readOnly: false}\nturns: [{ask: hi, approvals: [], model: [{" + write + "}]}]", "turn 1", "the 0 that are listed"},
		"approvals before rest": {"filesystem: {readOnly: false}\nturns: [{ask: hi, approvals: [], model: [{" + write + "}, {text: a}]}]", "turn 1", "the 0 that are listed"},
		"approval of another":   {"filesystem: {readOnly: false}\nturns: [{ask: hi, approvals: [{tool: writeFile, path: /y, answer: yes}], model: [{" + write + "}]}]", "turn 1", "this approval is for writeFile on /y"},
		"agent approval unused": {"approvals: [{tool: writeFile, answer: yes}]\nfilesystem: {readOnly: false}\nturns: [{ask: hi, model: [{json: {kind: answer, brief: x}}, {text: a}]}]", "", "not asked for"},
		"fallback left over":    {"filesystem: {tools: []}\nturns: [{ask: hi, fallback: [{text: x}], model: [{text: a}]}]", "turn 1", "replies of the fallback were not used"},
		"fallback ran out":      {"filesystem: {tools: []}\nturns: [{ask: hi, fallback: [], model: [{error: {message: gone}}]}]", "turn 1", "the 0 replies that are listed"},
		"handledBy":             {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {handledBy: cloud}}]", "turn 1", "expect.handledBy is cloud"},
		"steps":                 {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {steps: 1}}]", "turn 1", "the number of steps is 0 where expect.steps is 1"},
		"answer":                {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {answer: b}}]", "turn 1", `"a" where expect.answer is "b"`},
		"answer part":           {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {contains: b}}]", "turn 1", `does not contain "b"`},
		"reason":                {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {reason: model-error}}]", "turn 1", "expect.reason is model-error"},
		"best effort":           {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {bestEffort: true}}]", "turn 1", "bestEffort is false"},
		"refused":               {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {refused: true}}]", "turn 1", "refused is false"},
		"tools":                 {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {tools: [{tool: grep}]}}]", "turn 1", "names 1"},
		"another tool":          {"turns: [{ask: hi, model: [{toolCall: {name: glob, input: {pattern: /x}}}, {json: {kind: answer, brief: a}}, {text: a}], expect: {tools: [{tool: grep}]}}]", "turn 1", "step 1 ran glob where expect.tools names grep"},
		"another status":        {"turns: [{ask: hi, model: [{toolCall: {name: glob, input: {pattern: /x}}}, {json: {kind: answer, brief: a}}, {text: a}], expect: {tools: [{status: cached}]}}]", "turn 1", "step 1 (glob) is ok where expect.tools says cached"},
		"another tool error":    {"turns: [{ask: hi, model: [{toolCall: {name: glob, input: {pattern: x}}}, {json: {kind: answer, brief: a}}, {text: a}], expect: {tools: [{error: conflict}]}}]", "turn 1", "step 1 (glob) has the error code invalid-argument where expect.tools says conflict"},
		"no error":              {"filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}], expect: {error: x}}]", "turn 1", "succeeded"},
		"failing fallback":      {"filesystem: {tools: []}\nturns: [{ask: hi, fallback: [{error: {message: x}}], model: [{error: {}}]}]", "turn 1", "the fallback failed"},
	} {
		_, err := agentsim.Replay(t.Context(), parse(t, scenario(tt.yaml)), nil)
		var se *agentsim.StepError
		if err == nil || !strings.Contains(err.Error(), "s.txtar:") {
			t.Errorf("%s: %v names no place", name, err)
		}
		if errors.As(err, &se) != (tt.step != "") || se != nil && se.Step != tt.step || err == nil || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v; want %s and %q", name, err, tt.step, tt.message)
		}
	}
}

// Numbers follow first appearance in structured results, stay bound, and never
// reach into contents.
func TestNormalization(t *testing.T) {
	got := replay(t, scenario(`
filesystem: {readOnly: false}
calls:
  - {tool: readFile, input: {path: /b.txt, limit: 1}}
  - {tool: readFile, input: {path: /a.txt}}
  - {tool: writeFile, input: {path: /c.txt, content: "\"revision\":\"<rev:1>\"\n"}}
  - {tool: readFile, input: {path: /c.txt}}
  - {tool: readFile, input: {path: /b.txt, limit: 1, cursor: "<cursor:1>"}}
  - {tool: editFile, input: {path: /b.txt, revision: "<rev:1>", oldText: two, newText: "<rev:1>"}}
  - {tool: editFile, input: {path: /b.txt, revision: "<rev:1>", oldText: one, newText: "1"}, expect: {error: conflict}}
  - {tool: readFile, input: {path: /b.txt, cursor: " <cursor:1>"}, expect: {error: invalid-cursor}}
`, "/a.txt", "a\n", "/b.txt", "one\ntwo\nthree\n"))
	for _, want := range []string{
		`{"path":"/b.txt","revision":"<rev:1>","line":1,"continued":false,"nextCursor":"<cursor:1>"}` + "\none\n",
		`{"path":"/a.txt","revision":"<rev:2>",`,
		`{"path":"/c.txt","revision":"<rev:3>"}`,
		`{"path":"/c.txt","revision":"<rev:3>","line":1,"continued":false,"nextCursor":null}` + "\n" + `"revision":"<rev:1>"` + "\n",
		`"nextCursor":"<cursor:2>"}` + "\ntwo\n",
		`{"path":"/b.txt","revision":"<rev:4>"}`,
		"-- file /b.txt --\none\n<rev:1>\nthree\n",
		`input: {"path":"/b.txt","cursor":" <cursor:1>"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// A text that serves as arguments is resolved like JSON, and a golden shows the
// numbers, also where a small model fences what it says.
func TestNormalizationOfTexts(t *testing.T) {
	got := replay(t, scenario("filesystem: {readOnly: false}\n"+`
turns:
  - ask: Shorten it.
    approvals: [{tool: deleteFile, path: /a, answer: yes}]
    model:
      - toolCall: {name: readFile, input: {path: /a}}
      - json: {kind: tool, tool: deleteFile, brief: shorten}
      - text: "`+"```json\\n{\\\"path\\\":\\\"/a\\\",\\\"revision\\\":\\\"<rev:1>\\\"}\\n```"+`"
      - json: {kind: answer, brief: done}
      - text: "<rev:1> is gone."
    expect: {tools: [{tool: readFile, status: ok}, {tool: deleteFile, status: ok}]}
`, "/a", "x\n"))
	for _, want := range []string{`\"revision\":\"<rev:1>\"}\n` + "```", `input: {"path":"/a","revision":"<rev:1>"}`, "answer: <rev:1> is gone."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// A name that is no tool's cannot break a golden.
func TestNameOfNoTool(t *testing.T) {
	got := replay(t, scenario(`calls: [{tool: "a --\n-- b", input: {}, expect: {error: invalid-argument}}]`))
	if !strings.Contains(got, "\n-- 1 \"a --\\n-- b\" --\ninput: {}\n") {
		t.Errorf("got\n%s", got)
	}
}

// foreign is a factory of stores that use what a replay injects, and keep the
// names they were given.
type foreign struct {
	mu     sync.Mutex
	spaces map[string]*memfs.FS
	closed int
	seeds  map[string]string // what a store holds when it should be empty
}

func (f *foreign) open(_ context.Context, spec agentsim.StoreSpec) (vfs.Backend, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spaces[spec.Namespace] != nil {
		return nil, fmt.Errorf("the namespace %s came twice", spec.Namespace)
	}
	b, err := memfs.New(f.seeds, &memfs.Options{NewRevision: spec.NewRevision, Now: spec.Now})
	if err != nil {
		return nil, err
	}
	f.spaces[spec.Namespace] = b
	return &closer{FS: b, f: f}, nil
}

type closer struct {
	*memfs.FS
	f *foreign
}

var _ io.Closer = (*closer)(nil)

func (c *closer) Close() error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.f.closed++
	return nil
}

// Every shipped scenario shows the same over another store, which is empty and
// closed at the end.
func TestOtherStoresShowTheSame(t *testing.T) {
	f := &foreign{spaces: map[string]*memfs.FS{}}
	runner := &agentsim.Runner{Paths: []string{"../scenarios"}, NewStore: f.open}
	sum, err := runner.Run(t.Context())
	if err != nil || !sum.OK() || sum.Total < 40 {
		t.Fatalf("%v, %v", sum, err)
	}
	if len(f.spaces) < sum.Total || f.closed != len(f.spaces) {
		t.Errorf("%d stores were opened, %d closed", len(f.spaces), f.closed)
	}
	for name, b := range f.spaces {
		for info := range walk.Files(t.Context(), b, "/") {
			t.Errorf("%s was left in %s", info.Path, name)
		}
	}
}

func TestStoreThatIsNotEmpty(t *testing.T) {
	f := &foreign{spaces: map[string]*memfs.FS{}, seeds: map[string]string{"/mine.txt": "precious"}}
	_, err := agentsim.Replay(t.Context(), parse(t, scenario(look)), &agentsim.ReplayOptions{NewStore: f.open})
	if err == nil || !strings.Contains(err.Error(), "/mine.txt") {
		t.Errorf("the replay gave %v", err)
	}
	for _, b := range f.spaces {
		if file, err := b.Read(t.Context(), "/mine.txt"); err != nil || file.Content != "precious" {
			t.Errorf("the file is %q, %v", file.Content, err)
		}
	}
}

func TestCancelledReplay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, yaml := range []string{look, `turns: [{ask: hi}]`} {
		if _, err := agentsim.Replay(ctx, parse(t, scenario(yaml)), nil); err == nil {
			t.Errorf("%s ran", yaml)
		}
	}
}

// Twenty replays of everything at a time, on one, two and eight processors,
// give the same bytes.
func TestReplaysAreDeterministic(t *testing.T) {
	locs, err := agentsim.Find("", "../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string][]byte{}
	for _, procs := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(procs)
		var wg sync.WaitGroup
		goldens := make([]map[string][]byte, 7)
		for i := range goldens {
			goldens[i] = map[string][]byte{}
			wg.Go(func() {
				for _, loc := range locs {
					sc, err := loc.Load()
					if err != nil {
						t.Error(err)
						return
					}
					tr, err := agentsim.Replay(t.Context(), sc, nil)
					if err != nil {
						t.Errorf("%s: %v", loc.Name, err)
					}
					goldens[i][loc.Name] = tr.Golden()
				}
			})
		}
		wg.Wait()
		runtime.GOMAXPROCS(before)
		for _, got := range goldens {
			for name, data := range got {
				if first[name] == nil {
					first[name] = data
				}
				if !bytes.Equal(first[name], data) {
					t.Errorf("%s differs with %d processors", name, procs)
				}
			}
		}
	}
}
