package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

// document is a state as it lies in a store. What other programs put beside the
// members that are known here is kept, and goes back when the state is saved.
type document struct {
	State
	conversation *string    // of a file; nil for the default one
	others       []member   // unknown ones of the object itself
	exchanges    [][]member // unknown ones of each exchange of State.Recent
}

// The members of a stored state.
const (
	nameConversation = "conversation"
	nameSummary      = "summary"
	nameRecent       = "recent"
)

// decode reads a stored state. Everything that is not one object with a text
// as summary and a list of exchanges is damaged: what has another form was
// written by someone else, and empty would be the wrong word for it. The member
// conversation is known only inFile.
func decode(raw string, inFile bool) (document, error) {
	var s document
	switch {
	case strings.TrimSpace(raw) == "":
		return s, errors.New("the stored memory is blank")
	case !utf8.ValidString(raw):
		return s, errors.New("the stored memory is not valid UTF-8")
	case loneSurrogate(raw):
		return s, errors.New("the stored memory holds half of a surrogate pair")
	case !strings.HasPrefix(strings.TrimSpace(raw), "{"):
		return s, errors.New("the stored memory is no JSON object")
	}
	err := s.read([]byte(raw), inFile)
	if err != nil {
		return document{}, fmt.Errorf("the stored memory is no JSON of its form: %w", err)
	}
	return s, nil
}

func (s *document) read(raw []byte, inFile bool) error {
	if !json.Valid(raw) { // Members would stop at the end of the object
		return json.Unmarshal(raw, new(any))
	}
	all, err := jsontext.Members(raw)
	if err != nil {
		return err
	}
	var summary *string
	var recent *[]json.RawMessage
	for _, m := range all {
		switch {
		case m.Name == nameSummary:
			err = decodeMember(m, &summary)
		case m.Name == nameRecent && string(m.Value) == "null":
			recent = new([]json.RawMessage)
		case m.Name == nameRecent:
			err = decodeMember(m, &recent)
		case m.Name == nameConversation && inFile:
			err = decodeMember(m, &s.conversation)
		default:
			s.others = append(s.others, m)
		}
		if err != nil {
			return err
		}
	}
	if summary == nil || recent == nil {
		return errors.New("it lacks the text summary or the list recent")
	}
	s.State = State{Summary: *summary, Recent: []Exchange{}}
	for _, raw := range *recent {
		var e exchange
		if err := e.read(raw); err != nil {
			return err
		}
		s.Recent, s.exchanges = append(s.Recent, e.Exchange), append(s.exchanges, e.others)
	}
	return nil
}

// exchange is one exchange as it lies in a store.
type exchange struct {
	Exchange
	others []member
}

func (e *exchange) read(raw []byte) error {
	all, err := jsontext.Members(raw)
	if err != nil {
		return err
	}
	var ask, answer *string
	for _, m := range all {
		switch m.Name {
		case "ask":
			err = decodeMember(m, &ask)
		case "answer":
			err = decodeMember(m, &answer)
		case "at":
			e.At, err = readTime(m.Value)
		case "steps":
			err = decodeMember(m, &e.Steps)
		default:
			e.others = append(e.others, m)
		}
		if err != nil {
			return err
		}
	}
	if ask == nil || answer == nil {
		return errors.New("an exchange lacks ask or answer")
	}
	e.Ask, e.Answer = *ask, *answer
	return nil
}

// readTime reads the time as RFC 3339 or, as phones write it, in Unix
// milliseconds.
func readTime(raw json.RawMessage) (time.Time, error) {
	var at time.Time
	if string(raw) == "null" {
		return at, nil
	}
	var ms int64
	if json.Unmarshal(raw, &ms) == nil {
		at = time.UnixMilli(ms).UTC()
		if y := at.Year(); y < 0 || y > 9999 { // it could not be saved again
			return at, fmt.Errorf("the time %d of an exchange is in no year of four digits, Unix milliseconds are wanted", ms)
		}
		return at, nil
	}
	err := json.Unmarshal(raw, &at)
	return at, err
}

// after returns what is to be stored in place of s: the new state, with the
// unknown members of s, and with those of each exchange that is still there.
func (s document) after(next State) document {
	out := document{State: next.Clone(), conversation: s.conversation, others: s.others}
	taken := 0
	for _, e := range out.Recent {
		var others []member
		for i := taken; i < len(s.exchanges); i++ {
			if old := s.Recent[i]; old.Ask == e.Ask && old.Answer == e.Answer && old.At.Equal(e.At) {
				others, taken = s.exchanges[i], i+1
				break
			}
		}
		out.exchanges = append(out.exchanges, others)
	}
	return out
}

// encode renders the state as JSON: on one line, or for a file, which names its
// conversation, indented for people.
func (s document) encode(inFile bool) (string, error) {
	var recent []json.RawMessage
	for i, e := range s.Recent {
		raw, err := compact(e)
		if err != nil {
			return "", err
		}
		recent = append(recent, withMembers(raw, s.exchanges[i]))
	}
	known := struct {
		Summary string            `json:"summary"`
		Recent  []json.RawMessage `json:"recent"`
	}{s.Summary, recent}
	if recent == nil {
		known.Recent = []json.RawMessage{}
	}
	raw, err := compact(known)
	if err != nil {
		return "", err
	}
	if raw = withMembers(raw, s.others); !inFile {
		return string(raw), nil
	}
	name, err := compact(s.conversation)
	if err != nil {
		return "", err
	}
	raw = slices.Concat([]byte(`{"`+nameConversation+`":`), name, []byte(","), raw[1:])
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", err
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// compact renders v as JSON on one line, without the escapes that only HTML
// needs.
func compact(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// loneSurrogate reports whether JSON text escapes one half of a pair, which
// Go's decoder replaces without a word.
func loneSurrogate(raw string) bool {
	at, _ := jsontext.HalfPair([]byte(raw))
	return at >= 0
}

// digest is a short name for a value.
func digest(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:])
}
