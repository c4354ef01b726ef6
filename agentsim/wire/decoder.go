package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// decoder decodes the requests of one server. Clients repeat in each request which
// tools they offer, and that is most of a short one, so each list is read once. It
// is safe for concurrent use.
type decoder struct {
	own   []Tool                // those that are looked for among the offered
	count func(text string) int // nil counts nothing

	mu     sync.Mutex
	offers map[offerKey]*offer // guarded by mu
}

// offerKey is a list of tools as a request has it.
type offerKey struct {
	protocol Protocol
	list     string
}

// offer is what a list of tools says. It is not changed once it is made.
type offer struct {
	tools  []Tool
	text   string              // equal for offers that say the same
	own    map[toolName]string // as in Request
	tokens int
}

// decode is Decode.
func (d *decoder) decode(p Protocol, body []byte) (*Request, error) {
	c, err := codecOf(p)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxRequest {
		return nil, fmt.Errorf("the request has %d bytes, send at most %d", len(body), MaxRequest)
	}
	req, list, err := c.decode(body)
	if err != nil {
		return nil, fmt.Errorf("the body is no %s request: %w", p, plain(err))
	}
	offered, err := d.offer(p, c, list)
	if err != nil {
		return nil, fmt.Errorf("the body is no %s request: its tools cannot be read: %w", p, plain(err))
	}
	req.Protocol, req.offer, req.Tools, req.own = p, offered, offered.tools, offered.own
	for i := range req.Messages {
		canonicalCalls(req.Messages[i].Calls)
	}
	req.liftSystem()
	req.linkResults()
	return req, nil
}

// plain says what JSON is of another form than it should be, without the names of
// types in Go.
func plain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	return fmt.Errorf("%s cannot be of the JSON type %s", cmp.Or(wrong.Field, "the value"), wrong.Value)
}

// offer reads a list of tools, or finds what it was read as before.
func (d *decoder) offer(p Protocol, c codec, list json.RawMessage) (*offer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.offers[offerKey{p, string(list)}]; ok {
		return known, nil
	}
	var tools []Tool
	if len(list) > 0 {
		var err error
		if tools, err = c.tools(list); err != nil {
			return nil, err
		}
	}
	for i := range tools {
		tools[i].Schema = json.RawMessage(canonical(tools[i].Schema))
	}
	o := newOffer(tools, d.own, d.count)
	if d.offers == nil {
		d.offers = map[offerKey]*offer{}
	}
	d.offers[offerKey{p, string(list)}] = o
	return o, nil
}

// newOffer finds the own tools among those of an offer, and counts it; a nil
// counter counts nothing.
func newOffer(tools, own []Tool, count func(string) int) *offer {
	o := &offer{tools: tools, text: toolsText(tools), own: recognize(own, tools)}
	if count != nil {
		o.tokens = countTools(tools, count)
	}
	return o
}

// toolsText is all that is said of tools.
func toolsText(tools []Tool) string {
	var b strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&b, " %q %q %q %s", t.Namespace, t.Name, t.Description, t.Schema)
	}
	return b.String()
}

// setting is what a request says beside its messages.
type setting struct {
	protocol             Protocol
	model, system, tools string
}

func (r *Request) setting() setting { return setting{r.Protocol, r.Model, r.System, r.offer.text} }

// messageKey is equal for messages that say the same, whatever their ids.
type messageKey struct {
	role   Role
	failed bool
	text   string
	calls  string
}

func (m *Message) key() messageKey {
	k := messageKey{role: m.Role, failed: m.Failed, text: m.Text}
	if len(m.Calls) > 0 {
		var b strings.Builder
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %q %q %q", c.Namespace, c.Name, c.Input)
		}
		k.calls = b.String()
	}
	return k
}

// keys are those of all messages.
func (r *Request) keys() []messageKey {
	keys := make([]messageKey, len(r.Messages))
	for i := range r.Messages {
		keys[i] = r.Messages[i].key()
	}
	return keys
}
