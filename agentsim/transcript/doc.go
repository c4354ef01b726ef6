// Package transcript makes scenarios of what agents wrote down while they worked:
// sessions of command-line agents, trajectories, telemetry, logs of MCP messages.
// It is for people whose agent once went wrong on some files and who want to keep
// that as a check that needs no agent and no model.
//
//	t, err := transcript.Read(file, nil)   // what the agent called, and was shown
//	s, err := t.Scenario(ctx)              // the same as calls of this module's tools
//	os.WriteFile("scenarios/imported/typo.txtar", s.Data, 0o644)
//
// # What is taken
//
// Calls of tools that work on files, and of what they showed only what is needed
// to know the files. No prompts, answers, ids, times, models or output of other
// tools. The working folder is stripped from paths and texts. What looks like a
// secret stops the import and is named with its file and line.
//
// Tools of this module are taken as they were called, under whatever name a client
// gave them, such as mcp__files__readFile. Tools of agents are taken where they mean
// the same: reading a file or some of its lines, writing, replacing one text,
// finding a literal text, finding names. What is left out is counted by name.
//
// # Files
//
// A transcript does not hold files, only what was shown of them, so the seeds of a
// scenario are put together from that. A file that was never read to its end is
// partial, and Scenario.Partial says what is known of it. Lines that were not shown
// are empty.
//
// # A scenario that replays
//
// While it makes a scenario, the package runs the calls over the seeds. What a call
// is expected to give is what it gives there; where that is another error than the
// agent got, Scenario.Differs says so. So what is imported replays, and its golden
// is written by a replay that updates.
//
// A Recorder makes a scenario of calls as they happen, with the files as they are.
package transcript
