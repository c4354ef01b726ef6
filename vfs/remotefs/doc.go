// Package remotefs carries a vfs.Backend over a socket, so that a mount or a
// command can look into an agent while it runs. It is for one machine: a Unix
// socket that only its owner may use, or TCP on the loopback interface with a
// token from a file. It is no network file system, and it encrypts nothing.
//
// # The agent's side
//
// Three lines embed a server:
//
//	l, err := remotefs.Listen("unix:/run/user/1000/agent.sock")
//	if err != nil { … }
//	go remotefs.Serve(ctx, l, backend, nil)
//
// Clients can only read unless ServeOptions.Writable is set. However slow or
// broken a client is, it does not hold up the agent: each watch has a bounded
// queue and falls back to an overflow, requests are limited in number, size and
// time, and a connection that takes no data for WriteTimeout is closed.
//
// # The other side
//
// Dial returns a Client, a backend with every optional interface. What the
// server's backend lacks answers as that backend would: ErrReadOnly, or
// errors.ErrUnsupported from Watch. Errors keep their code (see vfs.Code).
//
// When the agent goes away, operations under way fail at once and later ones
// when no one answers, each with one sentence; none takes longer than
// DialOptions.Timeout. When it returns, the next operation connects again.
//
// # Watching
//
// For a write of this client, its own watch callbacks run before the write
// returns. Changes by the agent and by other clients arrive in their order when
// the server sends them, with Event.Old where the server's backend has it and it
// fits a frame. A watch outlives the agent: it connects again, and the overflow
// that it starts with tells the watcher to look again.
package remotefs
