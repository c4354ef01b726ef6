// Package blackbox replays a scenario with an agent that it knows nothing of: a
// program in any language, or a function in Go on any framework. The agent gets a
// scripted model (package wire) and its files over MCP (package mcptool), and the
// golden keeps what its model was shown: every new message, what became of each
// result of a tool on its way, and the files at the end. It is for people who
// want such an agent tested in continuous integration, without a model, a key or
// a network.
//
// # Scenarios
//
// It is a kind of scenario of package agentsim, beside calls and turns:
//
//	version: 1
//	filesystem: {readOnly: false}
//	agent:
//	  command: [codex, exec, "Fix the typo."]
//	  env: {CODEX_HOME: "{work}"}
//	  files: {config.toml: "… {model}/v1 … {mcp} …"}
//	  timeout: 60s
//	mcp: {structured: false, approve: client, stateless: false}
//	wire:
//	  - when: Fix the typo          # a text that the person's messages hold
//	    model:
//	      - {text: Looking., toolCalls: [{name: grep, input: {pattern: recieve}}]}
//	      - {error: {status: 429, retryAfter: 0s, message: slow down}}
//	      - {text: half an answ, cut: true}
//	      - toolCall: {name: editFile, input: {path: /guide.md, revision: <rev:1>, oldText: recieve, newText: receive}}
//	      - {text: Fixed., delay: 10ms}
//	    expect: {retries: 2, maxPromptTokens: 14000, shownWithinBudget: true}
//	  - {when: Generate a title, side: true, model: [{text: Typo}]}
//	mask: [{match: 'Wall time: [0-9.]+', as: 'Wall time: <n>'}]
//	show: [system, tools]           # in full; otherwise as size and hash
//	expect: {exit: 0, stdout: Fixed, stderr: [], files: {/guide.md: {contains: receive}}}
//
// Package wire says which request gets which reply. Replies name our tools by
// their own names, whatever the client calls them. Revisions and cursors are
// numbered in each conversation by itself, in the order in which its requests
// show them.
//
// # The agent
//
// A command in a scenario is code of whoever wrote the scenario: it runs only with
// Options.RunCommands. It runs in an empty folder of its own, with HOME and TMPDIR
// beside it, PATH, and nothing else of the environment; with agent.env, and with
// the addresses in the variables that the usual libraries read (OPENAI_BASE_URL,
// ANTHROPIC_BASE_URL, OLLAMA_HOST and keys that open nothing). In command, env and
// files these stand for themselves:
//
//	{model}      the scripted model, http://127.0.0.1:PORT; OpenAI's path is {model}/v1
//	{mcp}        the MCP server over streamable HTTP
//	{stdio}      its address for "{goliathfs} relay {stdio}", a command that speaks MCP over stdio
//	{goliathfs}  Options.Program
//	{work}       the empty folder
//	{home}       the folder of HOME
//	{here}       the folder in which the replay was started
//	{scenario}   the folder of the scenario's file
//
// When it ends, hangs or dies, it and every process that it began are ended, and
// the scenario fails with one sentence where one was left. Windows ends only the
// agent itself; systems other than Linux miss a process that left its group.
//
// # Goldens
//
// The first line is what the tools returned and what the model was shown of it, in
// tokens. Folders, dates, UUIDs and durations are masked in what a client adds of
// its own, never in a result that reached the model whole; tokens are counted
// after that, so that a golden is the same on every machine.
package blackbox
