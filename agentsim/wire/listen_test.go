package wire_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// dropped reports whether a handler drops the connection of a request, and what it
// wrote before.
func dropped(h http.Handler, req *http.Request) (drops bool, wrote string) {
	rec := httptest.NewRecorder()
	defer func() {
		p, _ := recover().(error)
		drops, wrote = errors.Is(p, http.ErrAbortHandler), rec.Body.String()
	}()
	h.ServeHTTP(rec, req)
	return false, ""
}

// A request that reaches an endpoint while it is being closed is not answered: an
// answer without a body would pass for one.
func TestClosedEndpoint(t *testing.T) {
	e, err := wire.Listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	if drops, wrote := dropped(e.Handler(), req); drops {
		t.Errorf("an open endpoint drops a request after %q", wrote)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if drops, wrote := dropped(e.Handler(), req); !drops || wrote != "" {
		t.Errorf("a closed endpoint drops a request: %t, after %q", drops, wrote)
	}
}

// A model whose server is stopped while it waits answers nothing.
func TestStoppedServer(t *testing.T) {
	model := wire.NewServer([]wire.Script{{Replies: []wire.Reply{{Text: "Late.", Delay: time.Hour}}}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, body := range []string{`{"messages":[{"role":"user","content":"x"}]}`, `{`} {
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		if drops, wrote := dropped(model, req); !drops || wrote != "" {
			t.Errorf("%s: the request is dropped: %t, after %q", body, drops, wrote)
		}
	}
}

// An address that is in use is named, and what may be the matter.
func TestTakenPort(t *testing.T) {
	e, err := wire.Listen(http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	addr := strings.TrimPrefix(e.URL, "http://")
	if _, err := wire.ListenAt(addr, http.NotFoundHandler()); err == nil || !strings.Contains(err.Error(), addr+", perhaps the port is taken") {
		t.Error(err)
	}
}
