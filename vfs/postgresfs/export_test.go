package postgresfs

import "time"

// AwaitGrams returns when no grams are being made in the background.
func (s *FS) AwaitGrams() {
	for s.space.indexing.Load() {
		<-time.After(time.Millisecond)
	}
}

// Waiting returns how many changes wait for others that are under way.
func (s *FS) Waiting() int {
	g := &s.space.group
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// SetLeaders sets how many transactions of a namespace are under way at once: so many
// that no changes are ever made together, or fewer.
func (s *FS) SetLeaders(n int) {
	g := &s.space.group
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaders = n
}

// Flush returns when the notifications of the changes that were made are sent.
func (s *FS) Flush() { s.db.notifier.flush() }
