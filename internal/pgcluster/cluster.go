// Package pgcluster runs a PostgreSQL server for tests: a cluster of its own in a
// temporary folder, which listens on a Unix socket there and nowhere else, and which
// ends with the process that made it, however that ends. It is for the tests of this
// module alone, and promises nothing about durability: fsync is off.
package pgcluster

import (
	"context"
	"errors"
	"os"
)

// Variable is the environment variable that names a server that is there already.
const Variable = "GOLIATHFS_POSTGRES"

// ErrNone means that there is no PostgreSQL on this machine; its text says what was
// looked for.
var ErrNone = errors.New("no PostgreSQL was found: install it (its initdb is looked for in PATH and in /usr/lib/postgresql), or set " + Variable + " to the URL of a server")

// Cluster is a server. Its methods are for one goroutine at a time.
type Cluster struct {
	url string
	own *server // nil for one that was there
}

// Options adjust a cluster; nil or the zero value is the default.
type Options struct {
	// Dir is an empty folder for the cluster; "" means a temporary one. Close removes
	// it. Its name must be short, for a socket is made in it.
	Dir string
	// Settings are further settings of the server, as in "max_connections=20".
	Settings []string
}

// Start returns the server that Variable names, or else starts one. Errors: ErrNone,
// and what initdb or the server said.
func Start(ctx context.Context, opts *Options) (*Cluster, error) {
	if named := os.Getenv(Variable); named != "" {
		return &Cluster{url: named}, nil
	}
	return StartOwn(ctx, opts)
}

// StartOwn starts a server, whatever Variable says: one that can be killed.
func StartOwn(ctx context.Context, opts *Options) (*Cluster, error) {
	if opts == nil {
		opts = &Options{}
	}
	s, err := newServer(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &Cluster{s.url, s}, nil
}

// URL returns the URL of the server's database.
func (c *Cluster) URL() string { return c.url }

// Own reports whether the server was started here, so that it may be stopped.
func (c *Cluster) Own() bool { return c.own != nil }

// Socket returns the name of the socket of a server that was started here.
func (c *Cluster) Socket() string { return c.own.socket() }

// Kill ends a server that was started here as kill -9 does, and returns when all its
// processes are gone.
func (c *Cluster) Kill() error { return c.own.kill() }

// Stop ends a server that was started here at once, without taking leave of clients.
func (c *Cluster) Stop() error { return c.own.end() }

// Run starts a server again that was killed or stopped, and returns when it takes
// connections.
func (c *Cluster) Run(ctx context.Context) error { return c.own.run(ctx) }

// Close ends a server that was started here and removes its files.
func (c *Cluster) Close() error {
	if c.own == nil {
		return nil
	}
	return c.own.close()
}
