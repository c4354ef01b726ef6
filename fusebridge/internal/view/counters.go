//go:build linux

package view

// Request is a kind of request of the kernel, for counting.
type Request int

// The kinds of request.
const (
	ReqLookup Request = iota
	ReqForget
	ReqGetAttr
	ReqOpen
	ReqOpenDir
	ReqReleaseDir
	ReqRead
	ReqReadDir
	ReqReadDirPlus
	ReqFlush
	ReqStatFs
	ReqAccess
	ReqGetXAttr
	ReqListXAttr
	ReqSetAttr
	ReqWrite
	ReqCreate
	ReqFsync
	ReqRelease
	ReqUnlink
	ReqRename
	ReqMkdir
	ReqRmdir
	ReqRefused
	requestKinds = iota
)

var requestNames = [requestKinds]string{
	"lookup", "forget", "getattr", "open", "opendir", "releasedir", "read", "readdir", "readdirplus", "flush", "statfs",
	"access", "getxattr", "listxattr", "setattr", "write", "create", "fsync", "release", "unlink", "rename",
	"mkdir", "rmdir", "refused",
}

// Count counts one request.
func (v *View) Count(r Request) { v.asked[r].Add(1) }

// Counters tell what a view has done since it began.
type Counters struct {
	Requests               map[string]uint64 // by kind; kinds never asked are absent
	CacheHits, CacheMisses uint64
	Notifies, SlowNotifies uint64
	Walks, Events, Stale   uint64
	Ahead, AheadBytes      uint64 // files that the kernel got before it asked for them
}

// Counters returns what the view has done so far.
func (v *View) Counters() Counters {
	c := Counters{
		Requests:     map[string]uint64{},
		CacheHits:    v.contents.hits.Load(),
		CacheMisses:  v.contents.misses.Load(),
		Notifies:     v.Notify.sent.Load(),
		SlowNotifies: v.Notify.slow.Load(),
		Walks:        v.Follow.walks.Load(),
		Events:       v.Follow.events.Load(),
		Stale:        v.stale.Load(),
		Ahead:        v.ahead.files.Load(),
		AheadBytes:   v.ahead.bytes.Load(),
	}
	for r, name := range requestNames {
		if asked := v.asked[r].Load(); asked > 0 {
			c.Requests[name] = asked
		}
	}
	return c
}
