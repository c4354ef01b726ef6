package wire

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// obj is a JSON object that is written with its keys in order.
type obj = map[string]any

// answerWriter collects an answer in the pieces in which it is sent.
type answerWriter struct {
	stream bool
	pieces [][]byte
	err    error
}

func (w *answerWriter) add(prefix string, v any, suffix string) {
	body, err := marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	piece := make([]byte, 0, len(prefix)+len(body)+len(suffix))
	piece = append(piece, prefix...)
	piece = append(piece, body...)
	w.pieces = append(w.pieces, append(piece, suffix...))
}

// whole is an answer in one body.
func (w *answerWriter) whole(v any) { w.add("", v, "") }

// data is a server-sent event without a name.
func (w *answerWriter) data(v any) { w.add("data: ", v, "\n\n") }

// event is a server-sent event.
func (w *answerWriter) event(name string, v any) {
	w.add("event: "+name+"\ndata: ", v, "\n\n")
}

// line is a line of JSON.
func (w *answerWriter) line(v any) { w.add("", v, "\n") }

// raw is a piece as it is.
func (w *answerWriter) raw(text string) { w.pieces = append(w.pieces, []byte(text)) }

// deltaSize is the size, in bytes, of a piece of streamed text.
const deltaSize = 24

// deltas cuts a text into pieces of whole characters.
func deltas(text string) []string {
	var cut []string
	for len(text) > deltaSize {
		n := deltaSize
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		cut, text = append(cut, text[:n]), text[n:]
	}
	if text != "" {
		cut = append(cut, text)
	}
	return cut
}

// sse reads server-sent events: name and data. What a stream breaks off is not
// an event.
func sse(body []byte, each func(name, data string) error) error {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	for {
		block, rest, found := bytes.Cut(body, []byte("\n\n"))
		if !found {
			return nil
		}
		body = rest
		var name string
		var data []string
		for line := range strings.SplitSeq(string(block), "\n") {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				name = value
			case "data":
				data = append(data, value)
			}
		}
		if len(data) == 0 {
			continue
		}
		if err := each(name, strings.Join(data, "\n")); err != nil {
			return err
		}
	}
}

// orderError is an event of a stream that cannot come where it came.
func orderError(event, want string) error {
	return fmt.Errorf("the event %s came out of order: %s", event, want)
}
