package mcptool

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions adjust a handler; nil or the zero value is the default.
type HTTPOptions struct {
	// Stateless keeps no sessions: each request stands for itself, and servers
	// behind one address need not know of each other. Clients of the versions
	// before 2026-07-28 cannot be asked for approval then; those of that version
	// and later are spoken to in it only here.
	Stateless bool
	// Token is what a client must send as "Authorization: Bearer TOKEN"; "" admits
	// everyone who reaches the handler.
	Token string
	// IdleTimeout ends a session from which no request has come for so long; 0
	// means an hour. The client is told to begin a new one by status 404.
	IdleTimeout time.Duration
}

// Handler serves clients over streamable HTTP, at whatever path it is mounted.
// Requests of pages in browsers are refused unless they come from the handler's
// own origin, and requests over MaxMessage bytes with status 413. Refusals are
// one sentence of plain text. With 256 sessions open, a new one is answered 503, as is
// everything after Close.
func (s *Server) Handler(opts *HTTPOptions) http.Handler {
	if opts == nil {
		opts = &HTTPOptions{}
	}
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless:                    opts.Stateless,
		SessionTimeout:               cmp.Or(opts.IdleTimeout, time.Hour),
		PropagateRequestCancellation: true,
	})
	token := opts.Token
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leave, err := s.enter()
		if err != nil {
			http.Error(w, "the server is being shut down, try again later", http.StatusServiceUnavailable)
			return
		}
		defer leave()
		if token != "" && !holds(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong, send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
			http.Error(w, fmt.Sprintf("requests from pages of %q are refused, use a client outside the browser", origin), http.StatusForbidden)
			return
		}
		if !bound(w, r) {
			return
		}
		if r.Header.Get("Mcp-Session-Id") == "" && !opts.Stateless && s.sessions() >= maxSessions {
			http.Error(w, fmt.Sprintf("%d sessions are open, the most there may be: end one, or try again later", maxSessions), http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// maxSessions bounds what clients that begin sessions and never end them can hold.
const maxSessions = 256

func (s *Server) sessions() int {
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// holds compares in constant time, whatever the lengths.
func holds(r *http.Request, token string) bool {
	scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(sent))), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host)
}

// bodyTime is how long a client may take to send a message.
const bodyTime = 30 * time.Second

// bound reads the body, so that one sentence can refuse it when it is too large,
// also where its length was not announced. It reports whether to go on.
func bound(w http.ResponseWriter, r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return true
	}
	var body []byte
	var err error
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // where the connection has none, its owner bounds it
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	if r.ContentLength <= MaxMessage {
		body, err = io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
	}
	switch {
	case err != nil:
		http.Error(w, "the request broke off, send it again", http.StatusBadRequest)
		return false
	case r.ContentLength > MaxMessage || len(body) > MaxMessage:
		w.Header().Set("Connection", "close") // the rest is not read
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes, send less at a time", MaxMessage), http.StatusRequestEntityTooLarge)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}
