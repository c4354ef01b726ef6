// Package wire speaks the four protocols by which agents ask a model over HTTP:
// OpenAI's Chat Completions and Responses, Anthropic's Messages and Ollama's
// chat, streaming and not. It is for people who test an agent that they cannot,
// or do not want to, change: the agent talks to a Server, which gives scripted
// answers and tells what the model would have been shown, or through a Recorder,
// which passes everything on to a real model and keeps what was said.
//
// It runs no model, keeps no key, and of headers only the client's name and
// version, and knows nothing of files. What
// a model reasons is left out, both of requests and of answers. Images and other
// parts that are no text stand in a message as a placeholder.
//
// # A request
//
// Decode reads the body of a request in any of the protocols into one Request:
// the system prompt, the tools on offer and the messages. Item ids, cache keys
// and metadata of clients are not part of it, so that the same question asked
// twice is the same value twice.
//
// # A scripted model
//
//	server := wire.NewServer([]wire.Script{{
//		When:    "Fix the typo",
//		Replies: []wire.Reply{{Calls: []wire.Call{{Name: "grep", Input: input}}}, {Text: "Fixed."}},
//	}}, nil)
//	endpoint, err := wire.Listen(server) // endpoint.URL is http://127.0.0.1:…
//
// A request belongs to the conversation whose messages it extends; the first of a
// conversation picks its script; within it replies go in order. So two
// conversations at once get their own answers, in whichever order they ask. The
// same request after an error or a cut is a retry, whatever its headers say. A
// request that no script fits is answered with status 400, and is one of the
// Problems of the Report; a reply that was never asked for is LeftOver there.
package wire
