package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options adjust a Server; nil or the zero value is the default.
type Options struct {
	// Tools are those that scripts name. A client may offer them under other names;
	// they are found by description and arguments.
	Tools []Tool
	// CountTokens counts a text; nil means FourBytes. It must be safe for concurrent
	// use.
	CountTokens func(text string) int
	// NewNames is called for each conversation that begins; nil means that inputs
	// are sent as they stand in the script.
	NewNames func() Names
}

// Server is a scripted model. It is an http.Handler for all four protocols, with
// the paths that clients use, with and without /v1. It is safe for concurrent
// use.
type Server struct {
	opts Options
	bad  error // of the script; every request is answered with it
	dec  *decoder

	mu       sync.Mutex
	table    table    // guarded by mu
	problems problems // guarded by mu
	clients  clients  // guarded by mu
	items    *items   // guarded by mu
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a server for these scripts. What is wrong with them is what
// Check says; a server of such scripts answers every request with that.
func NewServer(scripts []Script, opts *Options) *Server {
	s := &Server{bad: Check(scripts), items: newItems()}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.CountTokens == nil {
		s.opts.CountTokens = FourBytes
	}
	s.dec = &decoder{own: s.opts.Tools, count: s.opts.CountTokens}
	s.table.scripts = slices.Clone(scripts)
	return s
}

// Report tells what was asked and answered up to now.
func (s *Server) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Problem
	if s.bad != nil {
		found = append(found, Problem{NoScript, s.bad.Error()})
	}
	r := s.table.report(append(found, s.problems.list()...))
	r.Clients = s.clients.list()
	return r
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := apiPath(r.URL.Path)
	if p, ok := protocolOf(r.Method, path); ok {
		s.serve(w, r, p)
		return
	}
	switch key := r.Method + " " + path; {
	case key == "POST /messages/count_tokens":
		s.countTokens(w, r)
	case alsoServed(r.Method, path):
		writeJSON(w, http.StatusOK, fixed[key])
	default:
		s.problem(NoScript, fmt.Sprintf("the agent asked for %s %s, which a scripted model does not have", r.Method, r.URL.Path))
		writeJSON(w, http.StatusNotFound, openAIFailure(http.StatusNotFound, fmt.Sprintf("there is no %s %s here", r.Method, r.URL.Path)))
	}
}

// alsoServed reports whether a scripted model has an endpoint beside those that
// ask it something.
func alsoServed(method, path string) bool {
	key := method + " " + path
	_, ok := fixed[key]
	return ok || key == "POST /messages/count_tokens"
}

// fixed are the answers that are always the same, by method and path without /v1.
var fixed = map[string]any{
	"GET /models":      obj{"object": "list", "models": []obj{}, "data": []obj{{"id": modelName, "object": "model", "created": 0, "owned_by": "goliathfs"}}},
	"GET /api/tags":    obj{"models": []obj{{"name": modelName + ":latest", "model": modelName + ":latest"}}},
	"GET /api/version": obj{"version": "0.0.0"},
	"POST /api/show":   obj{"capabilities": []string{"completion", "tools"}, "details": obj{}, "model_info": obj{}},
	"GET /":            obj{}, // how some clients look whether there is a server
	"HEAD /":           obj{},
}

// modelName is the model that lists name; requests may ask for any.
const modelName = "scripted"

// apiPath is a path without /v1, which some clients leave out.
func apiPath(path string) string { return "/" + strings.Trim(strings.TrimPrefix(path, "/v1"), "/") }

// protocolOf finds the protocol of a request by its path, /v1 left out.
func protocolOf(method, path string) (Protocol, bool) {
	if method != http.MethodPost {
		return "", false
	}
	switch path {
	case "/chat/completions":
		return Chat, true
	case "/responses":
		return Responses, true
	case "/messages":
		return Messages, true
	case "/api/chat":
		return Ollama, true
	}
	return "", false
}

func (s *Server) problem(script int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems.add(Problem{script, text})
}

// read decodes the body of a request.
func (s *Server) read(w http.ResponseWriter, r *http.Request, p Protocol) (*Request, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	return s.dec.decode(p, body)
}

// readBody reads what a client sends, up to MaxRequest.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), 1<<20)) + bytes.MinRead) // no more for a client that only says so
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, MaxRequest))
	return body.Bytes(), err
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	req, err := s.read(w, r, Messages)
	if err != nil {
		s.refuse(w, messagesCodec{}, err)
		return
	}
	tokens := req.Count(s.opts.CountTokens)
	writeJSON(w, http.StatusOK, obj{"input_tokens": tokens.Total()})
}

// refuse answers a request that cannot be answered, and keeps why.
func (s *Server) refuse(w http.ResponseWriter, c codec, err error) {
	script := NoScript
	var of *scriptError
	if errors.As(err, &of) {
		script = of.script
	}
	s.problem(script, err.Error())
	writeJSON(w, http.StatusBadRequest, c.failure(http.StatusBadRequest, err.Error()))
}

// scriptError is an error of what a script says.
type scriptError struct {
	script int // from 0
	error
}

func (e *scriptError) Unwrap() error { return e.error }

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, p Protocol) {
	c, _ := codecOf(p) // protocolOf knows only protocols that there are
	if s.bad != nil {
		writeJSON(w, http.StatusBadRequest, c.failure(http.StatusBadRequest, s.bad.Error()))
		return
	}
	req, err := s.read(w, r, p)
	switch {
	case r.Context().Err() != nil:
		drop()
	case err != nil:
		s.refuse(w, c, err)
		return
	}
	talk, a, err := s.begin(r.Context(), req, r.UserAgent())
	switch {
	case r.Context().Err() != nil && talk == nil:
		drop()
	case err != nil:
		s.refuse(w, c, err)
		return
	}
	delivered := false
	defer func() { s.end(talk, a, delivered) }() // also when a cut drops the connection
	delivered = s.send(w, r, c, req, a)
	if a.reply.Cut || r.Context().Err() != nil {
		drop()
	}
}

// begin finds the conversation of a request and takes its next reply.
func (s *Server) begin(ctx context.Context, req *Request, client string) (*conversation, *answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients.add(client)
	if err := s.items.complete(req); err != nil {
		return nil, nil, err
	}
	keys := req.keys()
	for {
		talk, retry, err := s.table.find(req, keys, s.opts.NewNames)
		if err != nil {
			return nil, nil, err
		}
		if talk.state == answering {
			idle := talk.idle
			s.mu.Unlock()
			select {
			case <-idle:
			case <-ctx.Done():
			}
			s.mu.Lock()
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			continue
		}
		a, err := s.next(talk, req, keys, retry)
		if err != nil {
			return talk, nil, &scriptError{talk.script, err}
		}
		return talk, a, nil
	}
}

// next records a request and makes its answer. The caller holds mu.
func (s *Server) next(talk *conversation, req *Request, keys []messageKey, retry bool) (*answer, error) {
	script := s.table.scripts[talk.script]
	if !retry {
		talk.take(req, keys, s.opts.CountTokens)
	}
	if talk.next >= len(script.Replies) {
		return nil, fmt.Errorf("script %d (%s) has no reply left: all %d were given, and the request's last message is %s", talk.script+1, script.name(), len(script.Replies), lastMessage(req))
	}
	reply := script.Replies[talk.next]
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		c := &reply.Calls[i]
		if talk.names != nil {
			input, err := talk.names.Resolve(object(c.Input))
			if err != nil {
				return nil, fmt.Errorf("reply %d of script %d (%s): %w", talk.next+1, talk.script+1, script.name(), err)
			}
			c.Input = input
		}
	}
	x := &talk.exchanges[len(talk.exchanges)-1]
	x.Replies = append(x.Replies, Reply{Text: reply.Text, Calls: slices.Clone(reply.Calls), Error: reply.Error, Cut: reply.Cut, Truncated: reply.Truncated, Delay: reply.Delay})
	for i := range reply.Calls {
		if err := req.rename(&reply.Calls[i]); err != nil {
			return nil, fmt.Errorf("reply %d of script %d (%s): %w", talk.next+1, talk.script+1, script.name(), err)
		}
	}
	talk.next++
	talk.state, talk.idle = answering, make(chan struct{})
	id := fmt.Sprintf("%d_%d", talk.script+1, talk.next)
	if script.Side {
		id = fmt.Sprintf("%d_%d_%d", talk.script+1, talk.run+1, talk.next)
	}
	a := &answer{reply: reply, model: req.Model, id: id, usage: req.usage}
	said := a.message()
	a.used = usage{x.Tokens.Total(), said.count(s.opts.CountTokens)}
	if req.Protocol == Responses && reply.Error == nil { // before it is sent, for the client may refer to it at once
		a.numbered("call")
		s.items.remember(req, "resp_"+a.id, a.message(), a.items())
	}
	return a, nil
}

// end records how an answer went.
func (s *Server) end(talk *conversation, a *answer, delivered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(talk.idle)
	if !delivered {
		talk.state = failed
		return
	}
	talk.state = answered
	m := a.message()
	talk.reply = m.key()
}

// send writes an answer and reports whether a whole one reached the client.
func (s *Server) send(w http.ResponseWriter, r *http.Request, c codec, req *Request, a *answer) bool {
	if a.reply.Delay > 0 {
		timer := time.NewTimer(a.reply.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return false
		}
	}
	if f := a.reply.Error; f != nil {
		if f.RetryAfter != nil {
			w.Header().Set("Retry-After", strconv.Itoa(int(*f.RetryAfter/time.Second)))
		}
		message := f.Message
		if message == "" {
			message = strings.ToLower(http.StatusText(f.Status))
		}
		writeJSON(w, f.Status, c.failure(f.Status, message))
		return false
	}
	pieces, err := encode(c, req.Stream, a)
	if err != nil {
		s.refuse(w, c, err)
		return false
	}
	if !req.Stream {
		return writeWhole(w, slices.Concat(pieces...), a.reply.Cut) == nil
	}
	return stream(w, contentType(req.Protocol), pieces) == nil && !a.reply.Cut
}

func encode(c codec, stream bool, a *answer) ([][]byte, error) {
	w := &answerWriter{stream: stream}
	c.answer(w, a)
	return w.pieces, w.err
}
