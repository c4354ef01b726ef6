package memfs

// AwaitIndex returns when nothing is being done for the index in the background.
func (s *FS) AwaitIndex() { s.index.Wait() }
