package sqlitefs

import (
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
)

// defaultKnown is the greatest namespace whose revisions are remembered to tell
// which files another program changed; a watch of a larger one reports an
// overflow instead.
const defaultKnown = 200_000

// poller finds the changes that others made to one namespace.
type poller struct {
	mu    sync.Mutex
	users int
	stop  func() // ends the loop and waits for it

	gen     uint64 // the handle that version is of; guarded by the turn
	version int64  // data_version when last looked; guarded by the turn

	knownMu sync.Mutex
	known   map[string]vfs.Revision // what watchers were told; nil: no one, or too many
}

func (p *poller) remember(known map[string]vfs.Revision) {
	p.knownMu.Lock()
	defer p.knownMu.Unlock()
	p.known = known
}

// remembers is false when there were too many files to remember.
func (p *poller) remembers() bool {
	p.knownMu.Lock()
	defer p.knownMu.Unlock()
	return p.known != nil
}

// suspects returns the paths at which now differs from what is known. It is not
// ok when either is too large to be kept.
func (p *poller) suspects(now map[string]vfs.Revision) (paths []string, ok bool) {
	p.knownMu.Lock()
	defer p.knownMu.Unlock()
	if p.known == nil || now == nil {
		return nil, false
	}
	for path, rev := range now {
		if p.known[path] != rev {
			paths = append(paths, path)
		}
	}
	for path := range p.known {
		if _, ok := now[path]; !ok {
			paths = append(paths, path)
		}
	}
	return paths, true
}

// knownRevision returns the revision that watchers know of.
func (p *poller) knownRevision(path string) vfs.Revision {
	p.knownMu.Lock()
	defer p.knownMu.Unlock()
	return p.known[path]
}

// note remembers what an event tells.
func (p *poller) note(e vfs.Event) {
	p.knownMu.Lock()
	defer p.knownMu.Unlock()
	switch {
	case p.known == nil:
	case e.Info.Revision == "":
		delete(p.known, e.Path)
	default:
		p.known[e.Path] = e.Info.Revision
	}
}
