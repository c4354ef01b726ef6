//go:build !unix

package pgcluster

import "context"

// server is not to be had on this system: tests use one that is there.
type server struct{ url string }

func newServer(context.Context, *Options) (*server, error) { return nil, ErrNone }

func (s *server) socket() string            { return "" }
func (s *server) kill() error               { return ErrNone }
func (s *server) end() error                { return ErrNone }
func (s *server) run(context.Context) error { return ErrNone }
func (s *server) close() error              { return nil }
