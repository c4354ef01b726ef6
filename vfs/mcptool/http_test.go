package mcptool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// post sends one message as a client does.
func post(t *testing.T, url string, body io.Reader, header map[string]string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		if k == "Host" {
			req.Host = v
		}
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestHTTPRefusals(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		s := newServer(t, newTools(t, agenttool.Options{}), nil)
		srv := httptest.NewServer(s.Handler(&mcptool.HTTPOptions{Stateless: stateless, Token: "a secret token of some length"}))
		t.Cleanup(func() { s.Close(); srv.Close() })
		host := strings.TrimPrefix(srv.URL, "http://")
		token := "Bearer a secret token of some length"
		big := strings.Repeat(" ", mcptool.MaxMessage) + initialize
		for _, tt := range []struct {
			name   string
			body   io.Reader
			header map[string]string
			status int
			want   string
		}{
			{"right", strings.NewReader(initialize), map[string]string{"Authorization": token}, 200, `"id":0`},
			{"own origin", strings.NewReader(initialize), map[string]string{"Authorization": token, "Origin": srv.URL}, 200, `"id":0`},
			{"no token", strings.NewReader(initialize), nil, 401, "the token is missing or wrong"},
			{"wrong token", strings.NewReader(initialize), map[string]string{"Authorization": token + "x"}, 401, "the token is missing or wrong"},
			{"no bearer", strings.NewReader(initialize), map[string]string{"Authorization": token[7:]}, 401, "the token is missing or wrong"},
			{"another scheme", strings.NewReader(initialize), map[string]string{"Authorization": "Basic" + token[6:]}, 401, "the token is missing or wrong"},
			{"foreign origin", strings.NewReader(initialize), map[string]string{"Authorization": token, "Origin": "http://evil.example"}, 403, `requests from pages of "http://evil.example" are refused`},
			{"no origin at all", strings.NewReader(initialize), map[string]string{"Authorization": token, "Origin": "null"}, 403, "are refused"},
			{"another port", strings.NewReader(initialize), map[string]string{"Authorization": token, "Origin": "http://127.0.0.1:1"}, 403, "are refused"},
			{"rebound name", strings.NewReader(initialize), map[string]string{"Authorization": token, "Host": "evil.example"}, 403, "evil.example"},
			{"too large", strings.NewReader(big), map[string]string{"Authorization": token}, 413, "larger than 4194304 bytes"},
			{"too large in pieces", io.MultiReader(strings.NewReader(big)), map[string]string{"Authorization": token}, 413, "larger than 4194304 bytes"},
			{"no JSON", strings.NewReader("{"), map[string]string{"Authorization": token}, 400, ""},
		} {
			if status, text := post(t, srv.URL, tt.body, tt.header); status != tt.status || !strings.Contains(text, tt.want) {
				t.Errorf("stateless %t, %s (%s): %d %q, want %d %q", stateless, tt.name, host, status, text, tt.status, tt.want)
			}
		}
		s.Close()
		if status, text := post(t, srv.URL, strings.NewReader(initialize), map[string]string{"Authorization": token}); status != 503 || !strings.Contains(text, "try again later") {
			t.Errorf("a closed server answers %d %q", status, text)
		}
	}
}

// deadlines notes the read deadlines of a connection.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// A client that sends its message drop by drop does not hold a handler for ever, and one
// that has sent it may listen as long as it likes.
func TestBodyHasItsTime(t *testing.T) {
	s := newServer(t, newTools(t, agenttool.Options{}), nil)
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(initialize))
	s.Handler(&mcptool.HTTPOptions{Stateless: true}).ServeHTTP(d, r)
	if len(d.set) != 2 || d.set[0].IsZero() || !d.set[1].IsZero() {
		t.Errorf("the deadlines are %v, want one and none", d.set)
	}
}

// Close ends sessions, the streams that clients hold open, and calls under way.
func TestCloseEndsHTTP(t *testing.T) {
	tools := hangingTools{newTools(t, agenttool.Options{}), make(chan struct{}, 1)}
	s := newServer(t, tools, nil)
	srv := httptest.NewServer(s.Handler(nil))
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: srv.URL, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "glob"}) // ends, however it ends
	}()
	<-tools.begun
	s.Close()
	<-called
	_ = session.Close() // the server knows it no more
	srv.Close()         // waits for every request
}

// A session that nothing is asked of ends, with all it holds: synctest would find
// what is left.
func TestIdleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(t, agenttool.Options{}), nil)
		h := s.Handler(&mcptool.HTTPOptions{IdleTimeout: time.Minute})
		do := func(body, session string) *httptest.ResponseRecorder {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", bytes.NewReader([]byte(body)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				req.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			return w
		}
		id := do(initialize, "").Header().Get("Mcp-Session-Id")
		time.Sleep(59 * time.Second) // of the bubble's own clock
		if w := do(ping, id); w.Code != http.StatusOK {
			t.Errorf("within the time a session answers %d", w.Code)
		}
		time.Sleep(61 * time.Second)
		if w := do(ping, id); w.Code != http.StatusNotFound {
			t.Errorf("after the time a session answers %d", w.Code)
		}
	})
}

// Clients that begin sessions and never end them keep no others out of those there
// are, and cannot begin any number.
func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(t, agenttool.Options{}), nil)
		h := s.Handler(nil)
		do := func(body, session string) *httptest.ResponseRecorder {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				req.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			return w
		}
		id := do(initialize, "").Header().Get("Mcp-Session-Id")
		refused := 0
		for range 300 {
			if w := do(initialize, ""); w.Code == http.StatusServiceUnavailable {
				refused++
			}
		}
		if refused != 300-255 {
			t.Errorf("%d of 300 more sessions are refused", refused)
		}
		if w := do(ping, id); w.Code != http.StatusOK {
			t.Errorf("a session that is open answers %d", w.Code)
		}
		time.Sleep(2 * time.Hour) // of the bubble's own clock
		if w := do(initialize, ""); w.Code != http.StatusOK {
			t.Errorf("when the others have ended, a new one answers %d", w.Code)
		}
		time.Sleep(2 * time.Hour)
	})
}

// A client that leaves in the middle of a call of the newest version cancels it.
func TestHTTPClientLeaves(t *testing.T) {
	tools := hangingTools{newTools(t, agenttool.Options{}), make(chan struct{}, 1)}
	session := connect(t, transports["http-stateless"](t, newServer(t, tools, nil)), nil)
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "glob"})
		called <- err
	}()
	<-tools.begun
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}
