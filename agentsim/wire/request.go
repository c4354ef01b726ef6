package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Protocol is one of the four ways to ask.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat"      // POST /v1/chat/completions
	Responses Protocol = "responses" // POST /v1/responses
	Messages  Protocol = "messages"  // POST /v1/messages
	Ollama    Protocol = "ollama"    // POST /api/chat
)

// Protocols returns all four.
func Protocols() []Protocol { return []Protocol{Chat, Responses, Messages, Ollama} }

// Request is what an agent asks of a model.
type Request struct {
	Protocol Protocol
	Model    string
	Stream   bool   // the answer is wanted piece by piece
	System   string // what stands before the first message of a person
	Tools    []Tool
	Messages []Message

	usage    bool                // chat: the stream ends with a count of tokens
	previous string              // responses: the answer whose conversation this goes on with
	offer    *offer              // what it says of tools
	own      map[toolName]string // our names of the tools on offer, by the client's
}

// Role is who a message is from.
type Role string

// The roles. Clients also call a system message one of the developer.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a request. Several pieces of text are joined by line
// feeds. A result of a tool is always a message of its own.
type Message struct {
	Role   Role
	Text   string
	Calls  []Call // of the assistant
	CallID string // of a tool's result: the call that it answers
	Failed bool   // of a tool's result: the client marked it as an error

	reference string // responses: the id of an item that the server sent before
}

// Call is one use of a tool that a model asks for.
type Call struct {
	ID        string          // chosen by the server; "" in a script
	Namespace string          // the group that a client offers the tool in, mostly ""
	Name      string          // of the tool
	Input     json.RawMessage // the arguments, a JSON object; decoded, with its keys in order
}

// Tool is one tool that a request offers.
type Tool struct {
	Namespace   string // as in Call
	Name        string
	Description string
	Schema      json.RawMessage // of the arguments; decoded, with its keys in order
}

// MaxRequest is the size, in bytes, above which a request is refused.
const MaxRequest = 64 << 20

// Decode reads the body of a request. It fails, and never panics, on what is no
// request of the protocol; fields that it does not know are passed over.
func Decode(p Protocol, body []byte) (*Request, error) { return new(decoder).decode(p, body) }

// codec is one protocol.
type codec interface {
	// decode reads a request but for its tools, and returns the list of them as it
	// stands there, nil for none.
	decode(body []byte) (*Request, json.RawMessage, error)
	// tools reads that list.
	tools(list json.RawMessage) ([]Tool, error)
	// answer writes a reply: its events when streaming, else one body.
	answer(w *answerWriter, a *answer)
	// failure is the body of an error.
	failure(status int, message string) any
	// fold reads an answer of status 200; a stream that ends too early is a reply
	// that is Cut.
	fold(stream bool, body []byte) (Reply, error)
}

func codecOf(p Protocol) (codec, error) {
	switch p {
	case Chat:
		return chatCodec{}, nil
	case Responses:
		return responsesCodec{}, nil
	case Messages:
		return messagesCodec{}, nil
	case Ollama:
		return ollamaCodec{}, nil
	}
	return nil, fmt.Errorf("there is no protocol %q, use one of chat, responses, messages and ollama", p)
}

var errNoMessages = errors.New("it has no messages")

// liftSystem moves the system messages that stand first to System.
func (r *Request) liftSystem() {
	var texts []string
	if r.System != "" {
		texts = append(texts, r.System)
	}
	n := 0
	for n < len(r.Messages) && r.Messages[n].Role == System {
		texts = append(texts, r.Messages[n].Text)
		n++
	}
	r.System, r.Messages = strings.Join(texts, "\n"), r.Messages[n:]
}

// linkResults gives results that name no call the calls before them, in order,
// as Ollama means it.
func (r *Request) linkResults() {
	var open []string
	for i := range r.Messages {
		m := &r.Messages[i]
		switch {
		case m.Role == Assistant:
			for j := range m.Calls {
				if m.Calls[j].ID == "" {
					m.Calls[j].ID = fmt.Sprintf("call_%d_%d", i, j)
				}
				open = append(open, m.Calls[j].ID)
			}
		case m.Role == ToolRole && m.CallID == "" && len(open) > 0:
			m.CallID, open = open[0], open[1:]
		case m.Role == ToolRole:
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.CallID })
		}
	}
}

// appendAssistant adds what an assistant said, to its message if that is the last
// one: some protocols send a text and each call as items of their own.
func (r *Request) appendAssistant(text string, calls ...Call) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == Assistant && r.Messages[n-1].reference == "" {
		last := &r.Messages[n-1]
		last.Text = joinText(last.Text, text)
		last.Calls = append(last.Calls, calls...)
		return
	}
	r.Messages = append(r.Messages, Message{Role: Assistant, Text: text, Calls: calls})
}

func joinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// canonicalCalls gives calls inputs that are equal when they say the same.
func canonicalCalls(calls []Call) {
	for i := range calls {
		calls[i].Input = json.RawMessage(canonical(object(calls[i].Input)))
	}
}

// canonical is JSON without needless space and with its keys in order; what is no
// JSON stays as it is.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return string(raw)
	}
	out, err := marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// arguments reads the arguments of a call from the string that most protocols put
// them in. What is no JSON is kept as a JSON string, so that it is not lost.
func arguments(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if !json.Valid([]byte(text)) {
		quoted, _ := marshal(text) // a string always can be
		return quoted
	}
	return json.RawMessage(text)
}

// object is arguments for a protocol that wants an object.
func object(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

// SameJSON reports whether two JSON values are equal, whatever the order of their
// keys. Nothing at all is an empty object.
func SameJSON(a, b json.RawMessage) bool { return canonical(object(a)) == canonical(object(b)) }
