package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// conversation is what an agent holds of one. Memory and modelErrors are touched
// only by the run that the queue has let in.
type conversation struct {
	id          string
	queue       queue
	memory      memory.Memory // made by the first run
	modelErrors int           // turns in a row that ended in model-error and that the fallback answered

	runs      int  // under way or waiting; guarded by Agent.mu
	forgotten bool // the next run begins anew; guarded by Agent.mu
}

// sessionErrors is how many such turns put a conversation in session fallback.
const sessionErrors = 3

// join returns the conversation for one more run, which ends with part.
func (a *Agent) join(id string) (*conversation, error) {
	if id != "" {
		if err := memory.CheckID(id); err != nil {
			return nil, err
		}
		if a.opts.Memory != nil {
			return nil, fmt.Errorf("the conversation %q would share the single memory of this agent, set MemoryFor instead of Memory", id)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.conversations[id]
	if !ok {
		c = &conversation{id: id, memory: a.opts.Memory}
		a.conversations[id] = c
	}
	c.runs++
	return c, nil
}

// begin is called by the run that the queue has let in.
func (a *Agent) begin(c *conversation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.forgotten {
		c.forgotten, c.memory, c.modelErrors = false, a.opts.Memory, 0
	}
}

func (a *Agent) part(c *conversation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.runs--; c.runs == 0 && c.forgotten {
		delete(a.conversations, c.id)
	}
}

// Forget drops what the agent holds of a conversation, "" being the default
// one: its memory adapter and its session fallback, not what the adapter saved.
// A run under way ends as it would have; those that wait for it begin anew.
func (a *Agent) Forget(conversation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.conversations[conversation]
	switch {
	case !ok:
	case c.runs == 0:
		delete(a.conversations, conversation)
	default: // it stays, so that its runs are still queued
		c.forgotten = true
	}
}

// remembered returns the conversation's memory, which its factory makes once.
func (c *conversation) remembered(ctx context.Context, factory memory.Factory) (memory.Memory, error) {
	if c.memory == nil {
		m, err := factory(ctx, c.id, c.id == "")
		if err != nil {
			return nil, err
		}
		if m == nil {
			return nil, errors.New("the factory made no memory, return one for each conversation")
		}
		c.memory = m
	}
	return c.memory, nil
}

// queue lets one run in at a time, in the order of arrival.
type queue struct {
	mu      sync.Mutex
	busy    bool
	waiting []chan struct{} // closed when it is their turn
}

// enter waits for its turn or the end of ctx.
func (q *queue) enter(ctx context.Context) error {
	q.mu.Lock()
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(q.waiting, turn)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 { // the turn came at the same moment: pass it on
		q.leave()
	}
	return ctx.Err()
}

func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return
	}
	close(q.waiting[0])
	q.waiting = q.waiting[1:]
}
