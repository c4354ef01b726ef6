package agentsim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// The turns that expectations are tried on. The first reads and answers, the
// second is answered by the fallback.
const twoTurns = `
memory: {work: {summary: "Goal: water.", recent: [{ask: Hi., answer: Hello.}]}}
turns:
  - ask: Read it.
    conversation: work
    model:
      - toolCall: {name: readFile, input: {path: /a}}
      - json: {kind: answer, brief: tell}
      - text: Water the mint.
    expect: {FIRST}
  - ask: Again.
    conversation: work
    fallback: [{text: From the cloud.}]
    model: [{error: {message: gone}}]
    expect: {SECOND}
`

// What an expectation says holds, or fails the turn with a sentence that names
// both, and shows what it looked in.
func TestTurnExpectations(t *testing.T) {
	for _, tt := range []struct{ first, second, fails, looked string }{
		{"contains: mint, lacks: [basil, sage]", "", "", ""},
		{"contains: [Water, mint]", "", "", ""},
		{"contains: [Water, basil]", "", `the answer does not contain "basil", as expect.contains asks`, "Water the mint."},
		{"lacks: [basil, mint]", "", `the answer contains "mint", where expect.lacks asks that it does not`, "Water the mint."},
		{"reason: none", "reason: model-error", "", ""},
		{"reason: model-error", "", "the reason of the escalation is none where expect.reason is model-error", ""},
		{"", "reason: none", "the turn was escalated for model-error (provider error: gone); so the turn was escalated where expect.reason is none", ""},
		{"", "reason: plan-invalid", "the reason of the escalation is model-error where", ""},
		{"handledBy: device", "handledBy: cloud", "", ""},
		{"", "handledBy: device", "handled by the cloud where expect.handledBy is device", ""},
		{"tools: [{tool: readFile, maxTokens: 40, contains: mint, lacks: basil}]", "", "", ""},
		{"tools: [{maxTokens: 3}]", "", "step 1 (readFile) costs 29 tokens where expect.tools says maxTokens: 3", ""},
		{"tools: [{contains: basil}]", "", `what the model sees of step 1 (readFile) does not contain "basil", as expect.tools.contains asks`, "water the mint"},
		{"tools: [{lacks: [mint]}]", "", `step 1 (readFile) contains "mint"`, "water the mint"},
		{"prompt: {contains: [Read it., 'Goal: water.', Hello.], lacks: basil, maxTokens: 500}", "prompt: {contains: Water the mint., stage: plan}", "", ""},
		{"prompt: {lacks: mint, stage: plan}", "", `the text of the plan prompts contains "mint"`, "water the mint"},
		{"prompt: [{stage: plan, contains: 'Steps left'}, {stage: answer, contains: water the mint}]", "", "", ""},
		{"prompt: [{stage: answer, contains: basil}]", "", `the text of the answer prompts does not contain "basil", as expect.prompt.contains asks`, "You answer the person"},
		{"prompt: {maxTokens: 10}", "", "tokens where expect.prompt.maxTokens is 10", "Read it."},
		{"prompt: {stage: scribe, contains: x}", "", "the model was sent none of the scribe prompts that expect.prompt is about", ""},
		{"", "fallback: {contains: ['ask: Again.', 'reason: model-error', 'Goal: water.', 'Read it. -> Water the mint.'], lacks: work}", "", ""},
		{"", "fallback: {contains: basil}", `what the fallback was given does not contain "basil"`, "reason: model-error: provider error: gone"},
		{"fallback: {contains: x}", "", "the fallback was not asked", ""},
		{"memory: {summary: 'Goal: water.', recent: [{ask: Hi.}, {ask: Read it., answer: Water the mint.}]}", "memory: {summary: {contains: [Goal, water], lacks: basil}}", "", ""},
		{"memory: {summary: 'Goal: x.'}", "", `the remembered summary is "Goal: water." where expect.memory.summary is "Goal: x."`, "Goal: water."},
		{"memory: {summary: {lacks: water}}", "", `the remembered summary contains "water", where expect.memory.summary.lacks asks that it does not`, "Goal: water."},
		{"memory: {recent: []}", "", "2 exchanges are remembered where expect.memory.recent has 0", ""},
		{"memory: {recent: [{}, {answer: x}]}", "", `the remembered exchange 2 is "Read it." with the answer "Water the mint."`, ""},
		{`files: {/a: "water the mint\n", /b: absent, /c: {contains: absent}}`, "", "", ""},
		{"files: {/a: {contains: [water, mint], lacks: basil}}", "", "", ""},
		{"files: {/a: water}", "", `the file /a is "water the mint\n" where expect.files is "water"`, "water the mint"},
		{"files: {/a: {contains: basil}}", "", `the file /a does not contain "basil"`, "water the mint"},
		{"files: {/a: absent}", "", "the file /a is there, where expect.files says absent", "water the mint"},
		{"files: {/b: x}", "", "there is no file /b, where expect.files names its text", ""},
		{"files: {b: x}", "", "must start with /", ""},
		{"files: {/b: {absent: true}, /c: {text: absent}}", "", "", ""},
	} {
		yaml := strings.NewReplacer("FIRST", tt.first, "SECOND", tt.second).Replace(twoTurns) + "files: {/c: absent}\n"
		tr, err := agentsim.Replay(t.Context(), parse(t, scenario(yaml, "/a", "water the mint\n")), nil)
		if tt.fails == "" {
			if err != nil {
				t.Errorf("%s %s: %v", tt.first, tt.second, err)
			}
			continue
		}
		var se *agentsim.StepError
		if err == nil || !strings.Contains(err.Error(), tt.fails) || !errors.As(err, &se) {
			t.Errorf("%s %s: %v; want %q", tt.first, tt.second, err, tt.fails)
			continue
		}
		told := agentsim.Explain(agentsim.Result{Status: agentsim.Failed, Err: err, Step: se.Step, Transcript: tr})
		_, looked, _ := strings.Cut(told, "it looked in:\n")
		looked, shown, _ := strings.Cut(looked, "the step showed:\n")
		if !strings.Contains(looked, tt.looked) || tt.looked == "" && looked != "" {
			t.Errorf("%s %s: it does not show that it looked in %q:\n%s", tt.first, tt.second, tt.looked, told)
		}
		if tt.looked != "" && !strings.Contains(shown, "-- turn ") {
			t.Errorf("%s %s: it does not tell what the turn did:\n%s", tt.first, tt.second, told)
		}
	}
}

func TestCallExpectations(t *testing.T) {
	const call = `calls: [{tool: readFile, input: {path: /a}, expect: {EXPECT}}]`
	for expect, fails := range map[string]string{
		"contains: [water, mint], lacks: basil":     "",
		"lacks: mint":                               `what was shown contains "mint", where expect.lacks asks`,
		"contains: [water, basil]":                  `what was shown does not contain "basil"`,
		"files: {/a: {contains: mint}, /b: absent}": "",
		"files: {/b: {text: x}}":                    "there is no file /b",
	} {
		_, err := agentsim.Replay(t.Context(), parse(t, scenario(strings.Replace(call, "EXPECT", expect, 1), "/a", "water the mint\n")), nil)
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%s: %v; want %q", expect, err, fails)
		}
	}
}

// The cause that the engine knows comes first, whatever shows its consequence.
func TestFailureNamesTheCause(t *testing.T) {
	const typo = `toolCall: {name: raedFile, input: {path: /a}}`
	const cause = `turn 1: the turn was escalated for plan-invalid (the reply is not of the form asked for: there is no tool "raedFile", only glob, grep, readFile); so `
	for name, tt := range map[string]struct{ turn, want string }{
		"an expectation":  {"model: [{" + typo + "}, {" + typo + "}], expect: {steps: 1}", cause + "the number of steps is 0 where expect.steps is 1"},
		"one typo":        {"model: [{" + typo + "}, {json: {kind: answer, brief: x}}, {text: a}], expect: {steps: 1}", `turn 1: the model had to be asked for the plan once more (the reply is not of the form asked for: there is no tool "raedFile", only glob, grep, readFile); so the number of steps is 0 where expect.steps is 1`},
		"no more to say":  {"model: [{" + typo + "}]", `turn 1: the model had to be asked for the plan once more (the reply is not of the form asked for: there is no tool "raedFile", only glob, grep, readFile); so the script ran out: it has no reply for model call 2`},
		"an empty answer": {"model: [{json: {kind: answer, brief: x}}, {text: ''}, {text: a}], expect: {answer: b}", `turn 1: the model had to be asked for the answer once more (the answer is empty); so the answer is "a" where expect.answer is "b"`},
		"a reply left":    {"model: [{" + typo + "}, {" + typo + "}, {text: a}]", cause + "1 of 3 scripted replies were not used"},
		"handled":         {"model: [{error: {message: gone}}], expect: {handledBy: device}", "the turn was escalated for model-error (provider error: gone); so the turn was handled by nobody where expect.handledBy is device"},
		"a tool's error":  {"model: [{toolCall: {name: readFile, input: {path: /no}}}, {json: {kind: answer, brief: a}}, {text: a}], expect: {tools: [{status: ok}]}", "step 1 (readFile) is error where expect.tools says ok: not-found: "},
	} {
		_, err := agentsim.Replay(t.Context(), parse(t, scenario("turns: [{ask: hi, "+tt.turn+"}]")), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", name, err, tt.want)
		}
	}
}

// What contradicts itself, or is never looked at, is refused when it is read.
func TestMeaninglessExpectations(t *testing.T) {
	for yaml, want := range map[string]string{
		"turns: [{ask: hi, expect: {error: x, steps: 1}}]":                                "steps cannot stand beside error",
		"turns: [{ask: hi, expect: {error: x, tools: []}}]":                               "tools cannot stand beside error",
		"turns: [{ask: hi, cancel: true, expect: {answer: x}}]":                           "expect.answer cannot stand beside cancel",
		"turns: [{ask: hi, expect: {files: {/a: {absent: true, text: x}}}}]":              "leave out one of the two",
		"turns: [{ask: hi, expect: {prompt: {stage: tool}}}]":                             "allowed are plan, arguments, answer, scribe",
		"turns: [{ask: hi, expect: {handledBy: me}}]":                                     "allowed are device, cloud, nobody",
		"memory: {work: {}}\nturns: [{ask: hi}]":                                          `no turn from here on is of the conversation "work"`,
		"turns: [{ask: hi, conversation: work}, {ask: hi, change: {memory: {work: {}}}}]": `no turn from here on is of the conversation "work"`,
		"memory: {'': gone}\nturns: [{ask: hi}]":                                          `"gone" is no memory`,
	} {
		if _, err := agentsim.Parse("s.txtar", "s", []byte(scenario(yaml))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", yaml, err, want)
		}
	}
	for yaml, want := range map[string]string{
		"turns: [{ask: hi, approvals: [{tool: writeFile, answer: yes}]}]":                          "a tool that this scenario does not offer",
		"approvals: [{tool: raedFile, answer: no}]\nturns: [{ask: hi}]":                            "a tool that this scenario does not offer",
		"filesystem: {readOnly: false}\nturns: [{ask: hi, approvals: [{tool: grep, answer: no}]}]": "which changes nothing and asks for none",
	} {
		if _, err := agentsim.Replay(t.Context(), parse(t, scenario(yaml)), nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.txtar:5:") && !strings.Contains(err.Error(), "s.txtar:6:") {
			t.Errorf("%q: %v; want %q", yaml, err, want)
		}
	}
}
