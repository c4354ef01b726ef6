package turn

import "context"

// Queue is the queue of a conversation.
type Queue struct{ q queue }

// Enter waits for its turn or the end of ctx.
func (q *Queue) Enter(ctx context.Context) error { return q.q.enter(ctx) }

// Leave lets the next one in.
func (q *Queue) Leave() { q.q.leave() }

// Waiting is how many wait for their turn.
func (q *Queue) Waiting() int {
	q.q.mu.Lock()
	defer q.q.mu.Unlock()
	return len(q.q.waiting)
}

// Held is how many conversations an agent holds something of.
func Held(a *Agent) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.conversations)
}

// Waiting is how many runs of a conversation wait for their turn.
func Waiting(a *Agent, conversation string) int {
	a.mu.Lock()
	c := a.conversations[conversation]
	a.mu.Unlock()
	if c == nil {
		return 0
	}
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return len(c.queue.waiting)
}
