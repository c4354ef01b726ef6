package mcptool

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime is how long calls may go on after the input has ended.
const drainTime = 10 * time.Second

// drainTransport holds the end of the input back until what was asked before it
// is answered, since the SDK drops calls that run when a connection ends.
type drainTransport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t drainTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainConn{
		Connection: conn,
		client:     map[any]bool{}, server: map[any]bool{},
		changed: make(chan struct{}), closed: make(chan struct{}),
	}, nil
}

// drainConn knows which requests of both sides wait for their answer, by id.
type drainConn struct {
	mcp.Connection

	mu      sync.Mutex
	client  map[any]bool  // requests of the client
	server  map[any]bool  // our questions to the client, each within a request of it
	changed chan struct{} // closed at the next change of the two

	once   sync.Once
	closed chan struct{}
}

// passed notes a message: a request waits among those of its own side, and a
// response ends the wait of one of the other.
func (c *drainConn) passed(msg jsonrpc.Message, requests, answered map[any]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if msg.IsCall() {
			requests[msg.ID.Raw()] = true
		}
	case *jsonrpc.Response:
		delete(answered, msg.ID.Raw())
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// Read implements mcp.Connection.
func (c *drainConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		return nil, err
	}
	c.passed(msg, c.client, c.server)
	return msg, nil
}

// Write implements mcp.Connection.
func (c *drainConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	c.passed(msg, c.server, c.client)
	return err
}

// Close implements mcp.Connection.
func (c *drainConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// drain waits for the answers that can still be given: not for a call that waits
// for the client in its turn.
func (c *drainConn) drain(ctx context.Context) {
	timeout := time.NewTimer(drainTime)
	defer timeout.Stop()
	for {
		c.mu.Lock()
		done, changed := len(c.client) <= len(c.server), c.changed
		c.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			return
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}
