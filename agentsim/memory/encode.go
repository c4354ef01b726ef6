package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

// document is a state as files hold it.
type document struct {
	Conversation *string `json:"conversation"` // null for the default one
	State
}

// encode renders v as JSON: on one line, or indented for people.
func encode(v any, indent string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	if indent == "" {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	return b.String(), nil
}

// decode reads a stored state. Everything that is not one object with a text
// as summary and a list of exchanges is damaged, also what Go's decoder would
// quietly repair.
func decode(raw string, v any) error {
	switch {
	case strings.TrimSpace(raw) == "":
		return errors.New("the stored memory is blank")
	case !utf8.ValidString(raw):
		return errors.New("the stored memory is not valid UTF-8")
	case loneSurrogate(raw):
		return errors.New("the stored memory holds half of a surrogate pair")
	case !strings.HasPrefix(strings.TrimSpace(raw), "{"):
		return errors.New("the stored memory is no JSON object")
	}
	if err := json.Unmarshal([]byte(raw), v); err != nil {
		return fmt.Errorf("the stored memory is no JSON of its form: %w", err)
	}
	return nil
}

// UnmarshalJSON reads the time as RFC 3339 or, as phones write it, in Unix
// milliseconds.
func (e *Exchange) UnmarshalJSON(data []byte) error {
	var raw struct {
		Ask    *string         `json:"ask"`
		Answer *string         `json:"answer"`
		At     json.RawMessage `json:"at"`
		Steps  []string        `json:"steps"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw.Ask == nil || raw.Answer == nil {
		return errors.New("an exchange lacks ask or answer")
	}
	*e = Exchange{Ask: *raw.Ask, Answer: *raw.Answer, Steps: raw.Steps}
	if len(raw.At) == 0 || string(raw.At) == "null" {
		return nil
	}
	var ms int64
	if json.Unmarshal(raw.At, &ms) == nil {
		e.At = time.UnixMilli(ms).UTC()
		if y := e.At.Year(); y < 0 || y > 9999 { // it could not be saved again
			return fmt.Errorf("the time %d of an exchange is in no year of four digits, Unix milliseconds are wanted", ms)
		}
		return nil
	}
	return json.Unmarshal(raw.At, &e.At)
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
