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
// Clients can only read unless ServeOptions.Writable is set. However slow, broken
// or hostile a client is, it does not hold up the agent: each watch has a bounded
// queue and falls back to an overflow; requests are limited in number, size and
// time; a message that has begun must be there within ReadTimeout, and a connection
// that takes no data for WriteTimeout is closed. Nor does it keep others out: large
// requests and results of all clients share pools of memory, and an idle client
// makes room for one more than MaxClients.
//
// # The other side
//
// Dial returns a Client, a backend with every optional interface. What the
// server's backend lacks answers as that backend would: ErrReadOnly, or
// errors.ErrUnsupported from Watch. Errors keep their code (see vfs.Code).
//
// When the agent goes away, operations under way fail at once and later ones
// when no one answers, each with one sentence that matches vfs.ErrUnavailable; none
// takes longer than DialOptions.Timeout. When it returns, the next operation
// connects again. Route asks the agent each time, so it tells of both.
//
// An agent is not believed: whatever it sends that no store gives, such as a path
// outside the directory that was listed, a page out of order or a size below zero,
// is an error that names the agent.
//
// # Watching
//
// For a write of this client, its own watch callbacks run before the write
// returns, unless they take longer than its context or Timeout allow: then the
// write, which was made, returns before them. Changes by the agent and by other
// clients arrive in their order when the server sends them, with Event.Old where
// the server's backend has it and it fits a frame. A watch outlives the agent: it
// connects again, and the overflow that it starts with tells the watcher to look
// again.
//
// # Versions
//
// Each side speaks the older one of the two versions of the protocol, from 1 on.
// Version 1 has no search: a client takes every file of such an agent for one that
// may hold the text. Before version 3 there are no batches: a client reads such an
// agent's files one by one.
//
// # Locks
//
// Each mutex stands in its type in front of what it guards, is held for moments
// only, and never while a callback or a backend runs or a socket is read or written.
// Whoever holds one may take those to the right of it, and no others:
//
//	Client.mu → session.mu → inbox.mu, outbox.mu     on the client's side
//	server.mu → peer.mu → outbox.mu                  on the agent's side
//
// quota.mu is taken alone. A Client's dialing token is held while it connects, so
// that one connection is made for all who wait; it is no mutex, and who waits for it
// leaves when its context ends.
package remotefs
