package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Recorder passes requests on to a real model and the answers back, byte for
// byte as they come, and keeps what was said: requests decoded, answers folded.
// It keeps no header. It is an http.Handler, safe for concurrent use.
type Recorder struct {
	base    *url.URL // the address
	path    string   // its path, escaped, without what is in version
	version string   // its path from its version on, such as /v1, escaped; "" if it names none
	client  *http.Client
	dec     decoder

	mu        sync.Mutex
	idle      *sync.Cond       // of mu: there is no request under way
	open      int              // requests under way; guarded by mu
	reached   bool             // a request got an answer; guarded by mu
	unreached error            // why one did not; guarded by mu
	order     int              // of requests, by arrival; guarded by mu
	exchanges map[int]recorded // by order; guarded by mu
	problems  problems         // guarded by mu
}

var _ http.Handler = (*Recorder)(nil)

// recorded is one request and what became of it.
type recorded struct {
	req   *Request
	reply Reply
	id    string             // responses: of the answer
	items map[string]Message // responses: of the answer
}

// NewRecorder returns a recorder in front of the model at an address such as
// https://api.openai.com/v1. A nil client is one that asks for no compression and
// follows no redirects, since a redirect could take the agent's key elsewhere. Its errors
// do not repeat the address, which may hold a key.
func NewRecorder(upstream string, client *http.Client) (*Recorder, error) {
	u, err := url.Parse(strings.TrimRight(upstream, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("this is no address of a model, write one such as https://api.openai.com/v1")
	}
	for _, end := range []string{"/chat/completions", "/responses", "/messages", "/api/chat"} {
		if strings.HasSuffix(u.Path, end) {
			return nil, fmt.Errorf("the address ends in %s, which is where single requests go: write what is before that", end)
		}
	}
	if client == nil {
		client = defaultClient()
	}
	r := &Recorder{base: u, client: client, exchanges: map[int]recorded{}}
	r.idle = sync.NewCond(&r.mu)
	r.path = strings.TrimRight(u.EscapedPath(), "/")
	if at := versionIn.FindStringIndex(r.path); at != nil {
		r.path, r.version = r.path[:at[0]], r.path[at[0]:]
	}
	return r, nil
}

// versionIn finds the version of an interface in a path: /v1, or /v1beta/openai.
var versionIn = regexp.MustCompile(`/v[0-9][^/]*(/.*)?$`)

func defaultClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 10 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// count counts requests under way.
func (r *Recorder) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open += n; r.open == 0 {
		r.idle.Broadcast()
	}
}

// target is where a request goes: the client's path as it was escaped, and the
// queries of both. The client's /v1 is the version that the address names, which a
// client may leave out; Ollama's own paths have none.
func (r *Recorder) target(from *url.URL) string {
	to := *r.base
	path := from.EscapedPath()
	if r.version != "" && !strings.HasPrefix(path, "/api/") {
		if path == "/v1" || strings.HasPrefix(path, "/v1/") {
			path = strings.TrimPrefix(path, "/v1")
		}
		path = r.version + path
	}
	to.RawPath = r.path + path
	to.Path, _ = url.PathUnescape(to.RawPath) // both were escaped by package url
	to.Fragment, to.RawFragment = "", ""
	to.RawQuery = strings.Trim(r.base.RawQuery+"&"+from.RawQuery, "&")
	return to.String()
}

// ServeHTTP implements http.Handler.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	r.count(1)
	defer r.count(-1)
	body, err := readBody(w, in)
	if err != nil {
		r.problem("a request of the agent could not be read: " + err.Error())
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	note := r.begin(in, body)
	ctx, cancel := lingering(in.Context())
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, in.Method, r.target(in.URL), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out.Header = forwarded(in.Header)
	resp, err := r.client.Do(out)
	if err != nil {
		if in.Context().Err() != nil { // then a replay has nothing to repeat
			r.problem("the agent did not wait for an answer of the model")
			drop()
		}
		r.problem(fmt.Sprintf("the model did not answer: %s", withoutURL(err)))
		r.note(errors.New(withoutURL(err)))
		note.end(&http.Response{StatusCode: http.StatusBadGateway}, nil, false)
		http.Error(w, "the model did not answer: "+withoutURL(err), http.StatusBadGateway)
		return
	}
	r.note(nil)
	defer resp.Body.Close()
	for name, values := range forwarded(resp.Header) {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	answer, whole := pass(w, resp.Body)
	note.end(resp, answer, whole)
	if !whole {
		drop() // the client is to see that it broke off
	}
}

// note keeps whether a request got an answer.
func (r *Recorder) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.reached = true
	} else {
		r.unreached = err
	}
}

// Unanswered returns why the model could not be reached, if a request was passed on and
// none got an answer: what was recorded then is nothing that a model said.
func (r *Recorder) Unanswered() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.open > 0 {
		r.idle.Wait()
	}
	if r.reached {
		return nil
	}
	return r.unreached
}

// linger is how long an answer is waited for when the client has gone: one that
// has just read the last byte of it goes too.
const linger = 2 * time.Second

// lingering returns a context that ends some time after ctx does.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(linger)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-late.Done():
		}
	})
	return late, func() { stop(); cancel() }
}

// withoutURL is an error without the address, which may hold a key.
func withoutURL(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return err.Error()
}

// hopByHop are headers of one connection. Without Accept-Encoding the answer comes
// as it can be read.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Accept-Encoding"}

func forwarded(h http.Header) http.Header {
	h = h.Clone()
	for _, listed := range h.Values("Connection") {
		for name := range strings.SplitSeq(listed, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
	return h
}

// maxAnswer is how much of an answer is kept, in bytes. All of it is passed on.
const maxAnswer = 64 << 20

// pass copies an answer as it comes, and returns it and whether it was whole.
func pass(w http.ResponseWriter, from io.Reader) (answer []byte, whole bool) {
	flusher := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if len(answer) < maxAnswer {
				answer = append(answer, buf[:n]...)
			}
			if _, werr := w.Write(buf[:n]); werr != nil {
				return answer, false
			}
			_ = flusher.Flush() // a client that has gone is noticed by the next write
		}
		switch {
		case errors.Is(err, io.EOF):
			return answer, true
		case err != nil:
			return answer, false
		}
	}
}

// note is one request that is being passed on; nil for one that is not kept.
type note struct {
	r     *Recorder
	order int
	req   *Request
}

// begin notes a request that asks the model something.
func (r *Recorder) begin(in *http.Request, body []byte) *note {
	path := apiPath(in.URL.Path)
	p, ok := protocolOf(in.Method, path)
	if !ok {
		if !alsoServed(in.Method, path) {
			r.problem(fmt.Sprintf("the agent also asked for %s %s, which a scripted model does not have", in.Method, in.URL.Path))
		}
		return nil
	}
	req, err := r.dec.decode(p, body)
	if err != nil {
		r.problem(err.Error())
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order++
	return &note{r, r.order, req}
}

// end notes the answer.
func (n *note) end(resp *http.Response, body []byte, whole bool) {
	if n == nil {
		return
	}
	reply, err := Fold(n.req.Protocol, resp.StatusCode, resp.Header, body)
	if err != nil {
		n.r.problem(err.Error())
		return
	}
	if !whole && reply.Error == nil {
		reply.Cut, reply.Calls = true, nil
	}
	one := recorded{req: n.req, reply: reply}
	if n.req.Protocol == Responses && reply.Error == nil && !reply.Cut {
		one.id, one.items = itemsOf(streams(resp.Header.Get("Content-Type")), body)
	}
	n.r.mu.Lock()
	defer n.r.mu.Unlock()
	n.r.exchanges[n.order] = one
}

// itemsOf finds the ids in an answer of Responses.
func itemsOf(stream bool, body []byte) (id string, found map[string]Message) {
	var last struct {
		ID     string          `json:"id"`
		Output []responsesItem `json:"output"`
	}
	if !stream {
		_ = json.Unmarshal(body, &last) // it was folded before
	} else {
		_ = sse(body, func(_, data string) error { // likewise
			e := struct {
				Type     string `json:"type"`
				Response any    `json:"response"`
			}{Response: &last}
			if strings.Contains(data, `"response.completed"`) || strings.Contains(data, `"response.incomplete"`) {
				return json.Unmarshal([]byte(data), &e)
			}
			return nil
		})
	}
	found = map[string]Message{}
	for i := range last.Output {
		var said Request
		if err := said.appendItem(&last.Output[i]); err == nil && len(said.Messages) == 1 {
			found[last.Output[i].ID] = said.Messages[0]
		}
	}
	return last.ID, found
}

func (r *Recorder) problem(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems.add(Problem{NoScript, text})
}

// RecordOptions adjust Record; the zero value is the default.
type RecordOptions struct {
	Tools       []Tool                // as in Options
	CountTokens func(text string) int // as in Options
	NewNames    func() Names          // as in Options
}

// Report waits for requests under way and tells what was asked and answered, by
// conversations in the order in which they began. When is not set.
func (r *Recorder) Report(opts RecordOptions) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.open > 0 {
		r.idle.Wait()
	}
	if opts.CountTokens == nil {
		opts.CountTokens = FourBytes
	}
	found := slices.Clone(r.problems.list())
	known := newItems()
	offers := map[*offer]*offer{}
	var t table
	for order := 1; order <= r.order; order++ {
		one, ok := r.exchanges[order]
		if !ok {
			continue // it has no answer yet, or one that is a problem
		}
		req := *one.req
		req.Messages = slices.Clone(req.Messages)
		if err := known.complete(&req); err != nil {
			found = append(found, Problem{NoScript, err.Error()})
			continue
		}
		if offers[req.offer] == nil { // the recorder has not known the tools, nor what counts them
			offers[req.offer] = newOffer(req.Tools, opts.Tools, opts.CountTokens)
		}
		req.offer = offers[req.offer]
		req.own = req.offer.own
		t.add(&req, one.reply, opts)
		if one.reply.Error == nil && !one.reply.Cut {
			known.remember(&req, one.id, Message{Role: Assistant, Text: one.reply.Text, Calls: one.reply.Calls}, one.items)
		}
	}
	report := Report{Problems: found}
	for i, c := range t.all {
		report.Conversations = append(report.Conversations, Conversation{Script: i, Names: c.names, Exchanges: c.exchanges})
	}
	return report
}
