package wire

import "fmt"

// items are what requests of Responses may refer to instead of repeating it.
// They are not safe for concurrent use.
type items struct {
	sent    map[string]Message   // items of answers, by id
	history map[string][]Message // by the id of an answer: all that led to it, and it
}

func newItems() *items { return &items{sent: map[string]Message{}, history: map[string][]Message{}} }

// complete puts in what a request refers to: earlier answers, and items of them.
func (t *items) complete(req *Request) error {
	if req.previous != "" {
		before, ok := t.history[req.previous]
		if !ok {
			return fmt.Errorf("the request goes on with the answer %q, which was not given here", req.previous)
		}
		req.Messages = append(append([]Message(nil), before...), req.Messages...)
		req.previous = ""
	}
	joined := Request{}
	for _, m := range req.Messages {
		if m.reference != "" {
			item, ok := t.sent[m.reference]
			if !ok {
				return fmt.Errorf("the request refers to the item %q, which was not sent here", m.reference)
			}
			m = item
		}
		if m.Role == Assistant && req.Protocol == Responses {
			joined.appendAssistant(m.Text, m.Calls...)
			continue
		}
		joined.Messages = append(joined.Messages, m)
	}
	req.Messages = joined.Messages
	return nil
}

// remember keeps an answer: id is its own, and parts are its items by theirs.
func (t *items) remember(req *Request, id string, said Message, parts map[string]Message) {
	for item, m := range parts {
		t.sent[item] = m
	}
	if id != "" {
		t.history[id] = append(append([]Message(nil), req.Messages...), said)
	}
}

// items are the parts of the answer by the ids that it is sent with.
func (a *answer) items() map[string]Message {
	parts := map[string]Message{"msg_" + a.id: {Role: Assistant, Text: a.reply.Text}}
	for i, c := range a.reply.Calls {
		parts[fmt.Sprintf("fc_%s_%d", a.id, i+1)] = Message{Role: Assistant, Calls: []Call{c}}
	}
	return parts
}
