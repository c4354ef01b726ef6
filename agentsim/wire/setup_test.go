package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

func seconds(n int) *time.Duration {
	d := time.Duration(n) * time.Second
	return &d
}

// foldResponse reads an answer; the error is also one of reading.
func foldResponse(p wire.Protocol, resp *http.Response) (wire.Reply, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Fold(p, resp.StatusCode, resp.Header, body)
}

// brokenUpstream sends a stream and drops the connection.
func brokenUpstream(t *testing.T, stream string) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if _, err := io.WriteString(w, stream); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}))
	return s, s.URL
}
