package wire

import "fmt"

// complete puts in what a request only refers to: earlier answers of this server,
// and items of them. The caller holds mu.
func (s *Server) complete(req *Request) error {
	if req.previous != "" {
		before, ok := s.history[req.previous]
		if !ok {
			return fmt.Errorf("the request goes on with the answer %q, which this server has not given", req.previous)
		}
		req.Messages = append(append([]Message(nil), before...), req.Messages...)
		req.previous = ""
	}
	joined := Request{}
	for _, m := range req.Messages {
		if m.reference != "" {
			item, ok := s.sent[m.reference]
			if !ok {
				return fmt.Errorf("the request refers to the item %q, which this server has not sent", m.reference)
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

// remember keeps what later requests may refer to. The caller holds mu.
func (s *Server) remember(talk *conversation, a *answer, said Message) {
	last := talk.exchanges[len(talk.exchanges)-1].Request
	if last.Protocol != Responses {
		return
	}
	s.sent["msg_"+a.id] = Message{Role: Assistant, Text: said.Text}
	for i, c := range said.Calls {
		s.sent[fmt.Sprintf("fc_%s_%d", a.id, i+1)] = Message{Role: Assistant, Calls: []Call{c}}
	}
	s.history["resp_"+a.id] = append(append([]Message(nil), last.Messages...), said)
}
