package wire_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// handle asks a server without a network and returns its answer.
func handle(ctx context.Context, s *wire.Server, path string, body io.Reader) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	defer func() {
		if why := recover(); why != nil && why != http.ErrAbortHandler { // which is how a connection is dropped
			panic(why)
		}
	}()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, path, body))
	return w
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

// The same request while it is being answered waits for that answer, and is a retry when
// the client of the first has gone.
func TestSameRequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := wire.NewServer([]wire.Script{{Replies: []wire.Reply{{Text: "one", Delay: time.Hour}, {Text: "two"}}}}, nil)
		ctx, leave := context.WithCancel(t.Context())
		first, second := make(chan struct{}), make(chan *httptest.ResponseRecorder, 1)
		go func() {
			handle(ctx, s, "/v1/chat/completions", strings.NewReader(hello))
			close(first)
		}()
		synctest.Wait()
		go func() { second <- handle(t.Context(), s, "/v1/chat/completions", strings.NewReader(hello)) }()
		synctest.Wait()
		if len(second) > 0 {
			t.Error("the second request is answered while the first one is")
		}
		leave()
		<-first
		if w := <-second; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "two") {
			t.Errorf("the second request: %d %s", w.Code, w.Body)
		}
		r := s.Report()
		if len(r.Conversations) != 1 || len(r.Conversations[0].Exchanges) != 1 || r.Conversations[0].Exchanges[0].Retries() != 1 {
			t.Errorf("the report is %+v, want one exchange with a retry", r)
		}
	})
}

// zeros is a body without an end, of which it is counted how much was read.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	*z += zeros(len(p))
	return len(p), nil
}

// A body without an end is read up to the bound and refused.
func TestRequestIsBounded(t *testing.T) {
	s := wire.NewServer([]wire.Script{{Replies: []wire.Reply{{Text: "one"}}}}, nil)
	var read zeros
	w := handle(t.Context(), s, "/v1/chat/completions", io.LimitReader(&read, 4*wire.MaxRequest))
	if w.Code != http.StatusBadRequest || int(read) > 2*wire.MaxRequest {
		t.Errorf("%d after %d bytes: %s", w.Code, read, w.Body)
	}
}

// What is wrong with the scripts is the answer to every request.
func TestWrongScripts(t *testing.T) {
	for _, scripts := range [][]wire.Script{nil, {{}}, {{Replies: []wire.Reply{{Delay: -1}}}}} {
		want := wire.Check(scripts).Error()
		w := handle(t.Context(), wire.NewServer(scripts, nil), "/v1/chat/completions", strings.NewReader(hello))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %s, want %q", w.Code, w.Body, want)
		}
	}
}

// A text that is not there costs nothing, whatever a counter says of it.
func TestNoTextCostsNothing(t *testing.T) {
	req, err := wire.Decode(wire.Chat, []byte(hello))
	if err != nil {
		t.Fatal(err)
	}
	cost := req.Count(func(text string) int { return len(text) + 100 })
	if cost.System != 0 || cost.Total() != len("hello")+100 {
		t.Errorf("it costs %+v", cost)
	}
}

// What an assistant says behind an item that the server has is a message of its own: the
// item is filled in later.
func TestTextBehindAReference(t *testing.T) {
	const said = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a text"}]}`
	for items, want := range map[string]int{
		said + `,` + said: 1,
		`{"type":"item_reference","id":"msg_1"},` + said: 2,
	} {
		req, err := wire.Decode(wire.Responses, []byte(`{"model":"m","input":[{"role":"user","content":"hello"},`+items+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(req.Messages) - 1; n != want {
			t.Errorf("%s are %d messages, want %d", items, n, want)
		}
	}
}
