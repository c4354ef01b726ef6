package wire

import (
	"errors"
	"mime"
	"net/http"
	"strconv"
)

// contentType is that of a stream.
func contentType(p Protocol) string {
	if p == Ollama {
		return "application/x-ndjson"
	}
	return "text/event-stream"
}

// streams reports whether an answer's type is that of a stream.
func streams(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "text/event-stream" || kind == "application/x-ndjson")
}

var errHalf = errors.New("only half was sent")

// writeWhole sends one body, or half of it: with its length, so that half is seen
// to be less, and a whole one needs nothing behind it.
func writeWhole(w http.ResponseWriter, body []byte, half bool) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if half {
		body = body[:len(body)/2]
	}
	if _, err := w.Write(body); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil || !half {
		return err
	}
	return errHalf
}

// stream sends pieces, each as soon as it is there.
func stream(w http.ResponseWriter, contentType string, pieces [][]byte) error {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-cache")
	flusher := http.NewResponseController(w)
	for _, piece := range pieces {
		if _, err := w.Write(piece); err != nil {
			return err
		}
		if err := flusher.Flush(); err != nil {
			return err
		}
	}
	return nil
}
