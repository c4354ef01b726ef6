package fusebridge

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge/internal/mountpoint"
)

// ErrUnsupported is returned by Mount and its companions on systems other than
// Linux.
var ErrUnsupported = fmt.Errorf("mounting needs Linux and FUSE, and this system is another one: %w", errors.ErrUnsupported)

// ErrNotEmpty is returned by Mount for a directory with files, unless Options.NonEmpty
// allows it.
var ErrNotEmpty = mountpoint.ErrNotEmpty

// FSType is the file system type of every mount of this package, as
// /proc/self/mountinfo shows it.
const FSType = "fuse.goliathfs"

// Options adjust a mount; nil or the zero value is the default: read-only, for
// the mounting user alone.
type Options struct {
	// Name is shown as the source of the mount, by df, mount and List; usually
	// the store's URL. Empty means "goliathfs".
	Name string
	// ReadWrite lets files be created, edited, renamed and removed.
	ReadWrite bool
	// AllowOther lets other users in, under the mode bits. As a normal user it
	// needs user_allow_other in /etc/fuse.conf.
	AllowOther bool
	// XAttr shows user.goliathfs.path, .revision and .route on every file. It
	// costs a request a file in tools that look for attributes.
	XAttr bool
	// Repositories shows .git, .hg and HEAD under their own names, and lets them be
	// made. Without it they show as .git@held and so on, for git and hg, started
	// anywhere in the mount, run what a repository's configuration says, and take
	// what the mount shows for the user's own.
	Repositories bool
	// NonEmpty allows a target that holds files; they are hidden while mounted.
	NonEmpty bool
	// StateDir is where edits that lost a race are kept, in the folder
	// "conflicts". Empty means $XDG_STATE_HOME/goliathfs, or
	// ~/.local/state/goliathfs.
	StateDir string
	// ConflictBytes is how much that folder may hold: when it has reached it, no
	// new edit is begun until its author has removed some. 0 means 256 MiB.
	ConflictBytes int64
	// MemoryBytes bounds what is being edited, together with temporary files, which
	// are in memory only; beyond it writing fails with ENOSPC. 0 means 256 MiB.
	MemoryBytes int64
	// Poll is how often a store that cannot watch is walked again; 0 means one
	// second. It is stretched to ten times as long as a walk takes.
	Poll time.Duration
	// Timeout bounds each wait for a store that honours its context by a
	// request; then the request fails with EIO, and later ones after a second
	// where the store is a remotefs.Client whose agent stays silent. 0 means ten
	// seconds.
	Timeout time.Duration
	// UnmountTimeout is how long Unmount waits for those who use the mount
	// before it detaches it from them. 0 means two seconds.
	UnmountTimeout time.Duration
	// CacheBytes bounds the contents kept between two reads of one file, in
	// bytes; the kernel's page cache is apart. 0 means 8 MiB.
	CacheBytes int64
	// NoStoreAhead leaves the kernel to ask for each file when it is read. Without it,
	// who reads through the files of a directory has the next ones put into the page
	// cache unasked, which makes a first look some times as fast; of a directory of
	// which only a few files are read, some are then read from the store in vain.
	// With ReadWrite it is the file that is being opened, and no other.
	NoStoreAhead bool
	hooks        hooks // of tests
	// Logger receives what happens in the background; nil means discard.
	Logger *slog.Logger
}

const (
	defaultPoll           = time.Second
	defaultTimeout        = 10 * time.Second
	defaultUnmountTimeout = 2 * time.Second
	defaultCacheBytes     = 8 << 20
	defaultConflictBytes  = 256 << 20
	defaultMemoryBytes    = 256 << 20
)

// withDefaults returns a copy of o with every default filled in.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Name == "" {
		c.Name = "goliathfs"
	}
	if c.Poll <= 0 {
		c.Poll = defaultPoll
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.UnmountTimeout <= 0 {
		c.UnmountTimeout = defaultUnmountTimeout
	}
	if c.CacheBytes <= 0 {
		c.CacheBytes = defaultCacheBytes
	}
	if c.ConflictBytes <= 0 {
		c.ConflictBytes = defaultConflictBytes
	}
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = defaultMemoryBytes
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Counters tell what a mount has done since it began.
type Counters struct {
	Requests     map[string]uint64 // requests of the kernel by kind, such as "lookup"; kinds never asked are absent
	CacheHits    uint64            // reads that did not ask the store
	CacheMisses  uint64            // reads that did
	Notifies     uint64            // notifications sent to the kernel
	SlowNotifies uint64            // those that took over 10 ms
	Walks        uint64            // walks over the whole store
	Events       uint64            // changes reported by the store
	Stale        uint64            // reads refused with ESTALE
	Ahead        uint64            // files put into the page cache before they were asked for
	AheadBytes   uint64            // their contents
	Conflicts    uint64            // edits kept aside because they lost a race
}
