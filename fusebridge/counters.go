//go:build linux

package fusebridge

func (b *bridge) counters(n *notifier) Counters {
	c := Counters{
		Requests:     map[string]uint64{},
		CacheHits:    b.contents.hits.Load(),
		CacheMisses:  b.contents.misses.Load(),
		Notifies:     n.sent.Load(),
		SlowNotifies: n.slow.Load(),
		Walks:        b.follow.walks.Load(),
		Events:       b.follow.events.Load(),
		Stale:        b.stale.Load(),
	}
	for r, name := range requestNames {
		if asked := b.asked[r].Load(); asked > 0 {
			c.Requests[name] = asked
		}
	}
	return c
}
