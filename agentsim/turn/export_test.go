package turn

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
