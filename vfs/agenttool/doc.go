// Package agenttool gives an agent's model six tools over virtual files: glob,
// grep and readFile, and where the application allows it writeFile, editFile and
// deleteFile. It is for people who embed agent files in a Go program, under
// their own harness or under package agentsim.
//
// Every result fits a token budget. What does not fit is reached through a
// cursor: pass it back unchanged until it is null. A cursor belongs to its query
// and, inside a file, to the revision it was cut from; an altered, foreign or
// stale one is refused, never answered with a restart.
//
// A page of a search ends when it is full, by matches or by tokens, and has a cursor
// exactly when something more would be shown; only after 64 MiB read, or 131,072
// names looked at, may it end early. Options.MaxFiles brings back the pages of the
// phone library, which pause after a number of files or 65,536 UTF-16 units. Over
// several pages a search is a live view: a file that comes or goes meanwhile may be
// seen or missed.
//
// A Toolset is made once. Tools describes the tools for a model's prompt, and Call
// runs one. A call returns the structured output, the text for the model, and what
// that text costs; an error has one of the codes of package codes. Each tool is one
// file; what they share is the budget (budget.go), cursors (cursor.go), the walk of
// a search (search.go) and the way text is rendered (text.go).
//
// It is not an authorization system: a root and a namespace say where a tool
// looks, not who may. Approval of writes belongs to the harness, which Tool.
// RequiresApproval tells; a direct call is application code and bypasses it.
package agenttool
