package sqlitefs

import (
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/walfile"
)

// mostRecent is how many files each of the two halves of recent holds.
const mostRecent = 4096

// recent is what a handle has last found of files, for as long as no one commits. Who
// asks again and again whether a file is still the same, as a mount does at each opening,
// costs no statement then.
//
// That no one has committed is known by the stamp of the log's index, which is looked at
// before the statement that finds something, and again by who is told of it. So it is
// known only of databases with a log whose files are held open here, and of copies that
// do not change as long as they are used.
type recent struct {
	fixed bool // the handle reads what does not change

	mu         sync.Mutex
	stamp      walfile.Stamp
	young, old map[recentKey]vfs.Info
}

type recentKey struct{ space, path string }

// stamp returns the stamp of the last commit, not ok where that cannot be told.
func (h *handle) stamp() (stamp walfile.Stamp, ok bool) {
	switch {
	case h.recent.fixed:
		return stamp, true
	case h.id == nil || h.id.beside == nil:
		return stamp, false
	}
	return h.id.beside.Stamp()
}

// find returns what was found of a file, if that was as of a stamp.
func (r *recent) find(stamp walfile.Stamp, key recentKey) (info vfs.Info, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stamp != stamp {
		return info, false
	}
	if info, ok = r.young[key]; ok {
		return info, true
	}
	if info, ok = r.old[key]; ok {
		r.put(key, info)
	}
	return info, ok
}

// note remembers files that were found by a statement which began after stamp was looked
// at, as Stat describes them.
func (h *handle) note(stamp walfile.Stamp, space string, infos ...vfs.Info) {
	r := &h.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stamp != stamp {
		r.stamp, r.young, r.old = stamp, nil, nil
	}
	for _, info := range infos {
		if h.utf16 { // only who reads it knows its size
			info.Size = -1
		}
		r.put(recentKey{space, info.Path}, info)
	}
}

// put keeps one file; the lock is held. Of those that no one has asked for since as many
// others were found, none stays.
func (r *recent) put(key recentKey, info vfs.Info) {
	if r.young == nil || len(r.young) >= mostRecent {
		r.young, r.old = map[recentKey]vfs.Info{}, r.young
	}
	r.young[key] = info
}
