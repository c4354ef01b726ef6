package badgerfs

import (
	"log/slog"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/goliathfs/goliathfs/vfs/internal/namespace"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// DefaultNamespace is the namespace of a store opened without one.
const DefaultNamespace = "default"

// Options adjust a store; nil or the zero value is the default.
type Options struct {
	// Namespace separates the files of one application or user from those of
	// others in the same database; "" means DefaultNamespace, blanks alone are an
	// error. It may have up to 255 bytes of UTF-8 without control characters.
	Namespace string
	// Relaxed lets a write return before it is on disk. It then survives the end
	// of the process, however sudden, but not a loss of power.
	Relaxed bool
	// ReadOnly opens a store without changing one byte of it. A store whose last
	// writer was killed is refused with ErrNeedsRecovery.
	ReadOnly bool
	// MustExist refuses to make a new store, with an error that matches
	// fs.ErrNotExist. ReadOnly implies it.
	MustExist bool
	// AcceptLoss opens a store that misses acknowledged writes or some of its
	// files with what is left, if Badger can. Copy the directory first.
	AcceptLoss bool
	// IndexFrom is how many bytes of content a namespace has at least for which the
	// first search makes an index; 0 means 3 MB, and with a negative number none is
	// made.
	IndexFrom int64
	// NewRevision makes the revision of each write; nil means revision.New.
	NewRevision revision.Func
	// Now is the clock that dates each write; nil means time.Now.
	Now func() time.Time
	// Logger receives what Badger has to say; nil discards it.
	Logger *slog.Logger
}

// resolved returns a copy of o with every default filled in.
func (o *Options) resolved() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Namespace == "" {
		r.Namespace = DefaultNamespace
	}
	if r.IndexFrom == 0 {
		r.IndexFrom = defaultIndexFrom
	}
	if r.NewRevision == nil {
		r.NewRevision = revision.New
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	return r, namespace.Check(r.Namespace)
}

// Sizes that keep a store small in memory. Badger maps twice the size of the
// memtable and of the value log for the files it is writing.
const (
	memTableSize   = 8 << 20
	valueLogSize   = 16 << 20
	valueThreshold = 16 << 10 // contents from here on go to the value log
)

// badgerOptions are those of every store. Tables are not compressed, so that
// blocks are read where they are mapped and need no cache. Conflicts are not
// detected, because there is one writer at a time: the leader of a group.
func badgerOptions(dir string, o Options) badger.Options {
	return badger.DefaultOptions(dir).
		WithMemTableSize(memTableSize).
		WithValueLogFileSize(valueLogSize).
		WithValueThreshold(valueThreshold).
		WithNumMemtables(2).
		WithNumCompactors(2).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithSyncWrites(!o.Relaxed).
		WithReadOnly(o.ReadOnly).
		WithBypassLockGuard(ownLock). // lockDir holds the same lock already
		WithLogger(logger{o.Logger})
}
