package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Fold reads an answer of a model back into a Reply. An answer that was broken off
// is Cut and has no calls; an error of a status is a Failure. It fails on a body
// that is no answer of the protocol.
func Fold(p Protocol, status int, header http.Header, body []byte) (Reply, error) {
	c, err := codecOf(p)
	if err != nil {
		return Reply{}, err
	}
	if status >= 400 {
		return Reply{Error: foldFailure(status, header, body)}, nil
	}
	stream := streams(header.Get("Content-Type"))
	reply, err := c.fold(stream, body)
	if err != nil && !stream && !json.Valid(body) { // half of a body is an answer that was cut
		return Reply{Cut: true}, nil
	}
	if err != nil {
		return Reply{}, fmt.Errorf("the body is no answer of %s: %w", p, err)
	}
	canonicalCalls(reply.Calls)
	return reply, nil
}

// foldFailure reads an error, in the form that any of the protocols has.
func foldFailure(status int, header http.Header, body []byte) *Failure {
	f := &Failure{Status: status}
	var in struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &in) == nil && json.Unmarshal(in.Error, &f.Message) != nil {
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(in.Error, &inner) == nil {
			f.Message = inner.Message
		}
	}
	if n, err := strconv.Atoi(header.Get("Retry-After")); err == nil && n >= 0 && n <= int(time.Hour/time.Second) {
		after := time.Duration(n) * time.Second
		f.RetryAfter = &after
	}
	return f
}
