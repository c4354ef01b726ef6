// Package mcptool offers an agent's file tools to any MCP client: desktop and
// command-line agents, and agents on frameworks in other languages. It is for
// people who have files in a vfs.Backend and an agent that is not written on
// this module.
//
//	toolset, err := agenttool.New(agenttool.Options{Backend: files})
//	server, err := mcptool.New(toolset, nil)
//	err = server.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// Handler serves the same over streamable HTTP, with sessions or without.
//
// # What a client gets
//
// The tools that the toolset offers, with their schemas, which are flat. A result
// is the text that the model is to see, one text content and nothing beside it,
// because several clients show their model structured content in place of the
// text, or both; Options.Structured adds it for programs that want it. An error
// of a tool is a result marked as an error whose text starts with a stable code.
// A tool that is not offered, and a message that cannot be read, are errors of
// the protocol; the session goes on.
//
// A message may have MaxMessage bytes. What is larger is refused, with the id of
// its request where that can be found.
//
// # Approval
//
// Tools that change files are offered where the toolset offers them. Who agrees
// to each change is Options.Approval: the client, on its own; a person, whom the
// client is told to ask; or nobody.
//
// # What it is not
//
// It is no authorization system: whoever reaches the server works with all files
// of its toolset. HTTPOptions.Token keeps strangers out, and a page in a browser
// is refused by its origin.
package mcptool
