package blackbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// stage is what an agent works with, while it does.
type stage struct {
	endpoints Endpoints
	mask      *mask

	tools  *toolServer // nil where none are offered
	listen []*wire.Endpoint
	stdio  net.Listener
	serves sync.WaitGroup
	stop   context.CancelFunc
}

// open serves the model and the tools on ports of this machine.
func (st *stage) open(model http.Handler, res *results, offer bool, spec mcpSpec) error {
	err := st.openAll(model, res, offer, spec)
	if err != nil {
		st.close()
	}
	return err
}

func (st *stage) openAll(model http.Handler, res *results, offer bool, spec mcpSpec) error {
	e, err := wire.Listen(model)
	if err != nil {
		return err
	}
	st.listen = append(st.listen, e)
	st.endpoints = Endpoints{Model: e.URL, Tools: res}
	if !offer {
		return nil
	}
	st.tools = &toolServer{res: res, spec: spec}
	if e, err = wire.Listen(st.tools); err != nil {
		return err
	}
	st.listen = append(st.listen, e)
	st.endpoints.MCP = e.URL + "/mcp"
	return st.serveStdio()
}

// serveStdio serves MCP, as over stdio, on each connection.
func (st *stage) serveStdio() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("the tools cannot listen: %w", err)
	}
	st.stdio, st.endpoints.Stdio = l, l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	st.stop = stop
	st.serves.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			st.serves.Go(func() {
				defer conn.Close()
				st.tools.serveConn(ctx, conn)
			})
		}
	})
	return nil
}

// close ends everything and waits for it.
func (st *stage) close() {
	if st.stdio != nil {
		_ = st.stdio.Close() // nothing is lost with it
		st.stop()
	}
	if st.tools != nil {
		st.tools.close()
	}
	for _, e := range st.listen {
		_ = e.Close() // connections that are dropped are not needed any more
	}
	st.serves.Wait()
}

// toolServer is the MCP server of a scenario. It is made when the first client
// comes: an agent in Go that calls its tools in Go has none, and to describe the
// tools to clients takes longer than to call them.
type toolServer struct {
	res  *results
	spec mcpSpec

	once    sync.Once
	server  *mcptool.Server // nil when it cannot be made, or nobody came before close
	handler http.Handler
	err     error
}

var _ http.Handler = (*toolServer)(nil)

// made makes the server, or tells why there is none.
func (t *toolServer) made() error {
	t.once.Do(func() {
		t.server, t.err = mcptool.New(t.res, &mcptool.Options{
			Structured: t.spec.Structured, Approval: mcptool.Approval(t.spec.Approve), OnClient: t.res.saw,
		})
		if t.err == nil {
			t.handler = t.server.Handler(&mcptool.HTTPOptions{Stateless: t.spec.Stateless})
		}
	})
	return t.err
}

// ServeHTTP implements http.Handler.
func (t *toolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := t.made(); err != nil {
		http.Error(w, "the tools cannot be offered: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	t.handler.ServeHTTP(w, r)
}

// serveConn serves one client as over stdio.
func (t *toolServer) serveConn(ctx context.Context, conn net.Conn) {
	if t.made() == nil {
		_ = t.server.ServeStdio(ctx, conn, conn) // a client that breaks off has shown nothing
	}
}

// close ends the sessions. Who comes after that is refused.
func (t *toolServer) close() {
	t.once.Do(func() { t.err = mcptool.ErrClosed })
	if t.server != nil {
		_ = t.server.Close() // it returns no error
	}
}
