package postgresfs

import (
	"fmt"
	"io/fs"
	"log/slog"
	"time"

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
	// ReadOnly refuses writes, and makes no table.
	ReadOnly bool
	// MustExist refuses a database without the tables, with an error that matches
	// fs.ErrNotExist, instead of making them. ReadOnly implies it.
	MustExist bool
	// Timeout is how long an operation goes on while the server does not answer,
	// starts again, or keeps others' locks; 0 means 10 seconds.
	Timeout time.Duration
	// PollInterval is how often changes of others are looked for while someone
	// watches and the server's notifications do not arrive; 0 means 250 ms.
	PollInterval time.Duration
	// KeepChanges is how many of its latest changes a namespace's log keeps at least,
	// for watchers that were cut off; 0 means 1024. Up to 64 times as many are kept
	// while they are younger than an hour.
	KeepChanges int
	// IndexFrom is how many files without grams a search meets at least before it has
	// them made, in the background; 0 means 32, and with a negative number none are.
	IndexFrom int
	// NewRevision makes the revision of each write; nil means revision.New.
	NewRevision revision.Func
	// Now is the clock that dates each write; nil means time.Now.
	Now func() time.Time
	// Logger is told when notifications do not arrive, a connection for them is lost,
	// or the log cannot be read for watchers; nil discards it.
	Logger *slog.Logger
}

const (
	defaultTimeout = 10 * time.Second
	defaultPoll    = 250 * time.Millisecond
	defaultKeep    = 1024
	defaultIndex   = 32
)

// filled returns o with defaults in place of zero values.
func (o *Options) filled() (Options, error) {
	var f Options
	if o != nil {
		f = *o
	}
	if f.Namespace == "" {
		f.Namespace = DefaultNamespace
	}
	if f.Timeout < 0 || f.PollInterval < 0 || f.KeepChanges < 0 {
		return f, fmt.Errorf("%w: Timeout, PollInterval and KeepChanges must not be negative", fs.ErrInvalid)
	}
	if f.Timeout == 0 {
		f.Timeout = defaultTimeout
	}
	if f.PollInterval == 0 {
		f.PollInterval = defaultPoll
	}
	if f.KeepChanges == 0 {
		f.KeepChanges = defaultKeep
	}
	if f.IndexFrom == 0 {
		f.IndexFrom = defaultIndex
	}
	if f.NewRevision == nil {
		f.NewRevision = revision.New
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	return f, namespace.Check(f.Namespace)
}
