package postgresfs

import "time"

// AwaitGrams returns when no grams are being made in the background.
func (s *FS) AwaitGrams() {
	for s.space.indexing.Load() {
		<-time.After(time.Millisecond)
	}
}
