package mcptool_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// heldWriter is the output of a client that does not read.
type heldWriter struct{ begun, release chan struct{} }

func (w heldWriter) Write(p []byte) (int, error) {
	close(w.begun)
	<-w.release
	return len(p), nil
}

// A client that does not read holds up neither the end of ctx nor Close.
func TestClientDoesNotRead(t *testing.T) {
	for _, how := range []string{"ctx", "Close"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, newTools(t, agenttool.Options{}), nil)
				in, client := io.Pipe()
				out := heldWriter{make(chan struct{}), make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 2)
				go func() { ended <- s.ServeStdio(ctx, in, out) }()
				go io.WriteString(client, initialize+"\n")
				<-out.begun
				if how == "ctx" {
					cancel()
				} else {
					go s.Close()
				}
				select {
				case err := <-ended:
					if how == "ctx" && !errors.Is(err, context.Canceled) {
						t.Errorf("the error is %v", err)
					}
				case <-time.After(time.Minute):
					t.Error("it serves on")
				}
				close(out.release)
				s.Close()
			})
		})
	}
}
