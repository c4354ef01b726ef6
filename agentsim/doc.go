// Package agentsim replays scenarios: small files that script what a model says
// and pin down what it was shown. It is for people who build agents on virtual
// files and want their pages, budgets, approvals, memory and answers proven in
// continuous integration, without a model and without a network.
//
// # Scenarios
//
// A scenario is a txtar archive, scenarios/<area>/<name>.txtar. Its comment is
// the description, scenario.yaml says what happens (see Load), and files/...
// seed the agent's store. It holds either calls, which run tools directly, or
// turns, which run the engine of package turn with a scripted model.
//
// # scenario.yaml
//
// Unknown names are errors. All but version and one of turns and calls may be
// left out.
//
//	version: 1
//	window: 4096                  # of the model, in tokens
//	tokenizer: o200k              # left out: estimate, or what the replay is told
//	maxSteps: 5
//	budgets: {toolResultTokens: 512, retrievedContextTokens: 1024}
//	filesystem:                   # agenttool.Options; tools: [] offers none
//	  root: /
//	  readOnly: true
//	  tools: [glob, grep, readFile]
//	  read: {defaultLines: 25, maxLines: 200}
//	  search: {maxMatches: 10}    # maxFiles: 128 pauses searches as a phone does
//	stores:                       # left out: one memory store with every seed
//	  default: {store: memory, perConversation: true, readOnly: false}
//	  routes: {/docs: {store: static}, /disk: {store: failing, error: store}}
//	files:                        # seeds that txtar cannot say
//	  /docs/nonl.txt: "no final newline"
//	  /logs/big.log: {repeat: "event {n}\n", count: 5000}   # n counts from 1
//	memory:                       # by conversation, "" is the default one
//	  work: {summary: "Goal: docs.", recent: [{ask: Hi., answer: Hello.}]}
//	  old: {raw: '{"summary":'}   # the stored value itself
//	approvals: [...]              # of the agent, for turns without their own
//	fallback: [...]               # likewise
//	turns:
//	  - ask: Fix the typo in /docs/guide.md.
//	    conversation: work
//	    approvals: [{tool: editFile, path: /docs/guide.md, answer: yes}]
//	    fallback: [{text: From the cloud.}, {error: {message: no network}}]
//	    model:
//	      - json: {kind: tool, tool: grep, brief: find the typo}
//	      - toolCall: {name: grep, input: {pattern: recieve}}
//	      - text: Fixed.
//	      - error: {message: gone, kind: provider}   # or guardrail, malformed
//	    expect: {handledBy: device, steps: 2, answer: Fixed., contains: ixed, lacks: [typo, error],
//	      reason: none, bestEffort: false, refused: false,
//	      tools: [{tool: grep, status: ok, maxTokens: 64, contains: guide}, {error: not-found}],
//	      prompt: {stage: plan, contains: [Fix], lacks: work, maxTokens: 700},
//	      fallback: {contains: recieve}, memory: {summary: "Goal: docs.", recent: [{ask: Hi.}]},
//	      files: {/docs/guide.md: {contains: receive}, /gone.md: absent}}
//	  - ask: And now?
//	    restart: true             # of the agent, before the turn
//	    change:                   # by someone else, before the turn
//	      write: {/docs/guide.md: "new\n"}
//	      remove: [/old.md]
//	      memory: {"": {summary: "Goal: rest."}, work: absent}
//	    cancel: true              # by the person, once model has given its replies
//	    model: []
//
// or, in place of turns,
//
//	calls:
//	  - {tool: readFile, input: {path: /logs/big.log}, pages: all,
//	     expect: {maxTokens: 512, pages: 70, contains: [event], lacks: error}}
//	  - {tool: editFile, input: {...}, conversation: work, expect: {error: conflict}}
//	  - {tool: glob, input: {pattern: /**}, cancel: true, expect: {error: canceled}}
//	  - {tool: readFile, change: {write: {/a: x}}, input: {path: /a}, expect: {files: {/a: x}}}
//
// Where a list of texts is meant, one text will do. A text that is expected is the
// whole one, or {contains: ..., lacks: ...}; prompt may be a list, one for each
// stage. An error that the run ends with is expected with error: "part of it".
//
// A store of kind failing lists its files and fails on every other use, with the
// error store, not-text or conflict. A call that fails without expect.error fails
// the scenario; in a turn a tool's error is what the model sees. Without
// approvals there is no handler, so writes are declined; without fallback there
// is none. Replies, approvals and fallback replies are taken in order, and one
// that is missing or left over fails the scenario.
//
// Budgets are counted by the estimate of package agenttool, unless the scenario or
// the replay names another tokenizer. The replay is handed those with the option
// Tokenizers, such as tiktoken.Named; a golden that was counted so says it first.
//
// Where the whole value of an argument named revision or cursor is <rev:2> or
// <cursor:1>, it stands for the second revision or the first cursor that results
// have shown, and <rev:/a.md> for the revision that the file /a.md has then. In
// arguments {repeat: "line {n}\n", count: 500} stands for the text. All seeds and
// repeated texts of a scenario are at most 64 MiB.
//
// Numbers are decimal: 010, 0x1F, 1_000 and 1e3 are refused unless they are in
// quotes, because readers of YAML differ over them.
//
// A turn with an empty answer because the model failed is handledBy: nobody.
//
// # Goldens
//
// What a replay showed is its Transcript; Transcript.Golden renders it, and
// golden/<area>/<name>.txtar keeps it under version control. Revisions, times
// and cursors are deterministic and appear as <rev:1> and <cursor:1>, numbered
// as they were first seen, so a golden has the same bytes on every machine and
// over every store.
//
// # Running
//
//	runner := &agentsim.Runner{Paths: []string{"scenarios"}, Reporter: r}
//	summary, err := runner.Run(ctx)
//
// A Runner finds, replays in parallel, compares, updates or has changes reviewed,
// and reports. The pieces are exported for other harnesses: Find, Load, Replay,
// Compare. Package simtest runs the same as Go subtests. With NewAgent the
// functions, hooks, tokenizer and memory of an application's own agent take part.
//
// What a failed scenario tells, Explain, is the cause that the engine knows, what
// the expectation looked in, and what the step showed.
//
// # A kind of scenario
//
// calls and turns are two kinds, each a package below internal (calls, turns) that
// the rest knows only by its Kind: a function that returns an empty script. The
// script is a pointer to a struct whose yaml tags are the names that its kind has
// beside those of scenario.Base; Key is the one that tells the kind; Check looks
// at both parts together; Run plays it in a replay.World, which has the stores
// with their seeds, the tools, the clock and the names of revisions and cursors,
// and adds what is shown to the World's transcript. When Run returns nil the files
// of every conversation that was named to World.Begin are added. An error of one
// step is made by replay.StepError; one that matches ErrSkipped says what is
// needed to replay the scenario, and fails nothing.
//
// A third kind is one package, here or beside this one, and is handed to whoever
// loads: Load, Parse, Runner.Kinds, simtest.Options.Kinds. So a program carries
// only what its scenarios need.
//
// The rooms, from below: strictyaml and archive are the two forms of text;
// scenario reads what all kinds share; golden is what was shown; replay is the
// world; calls and turns happen in it; library is where the files are; report
// tells how it went.
//
// The package opens no database itself: a replay over another store is given a
// NewStore function. It never runs a model; package turn does that for real
// agents too.
package agentsim
