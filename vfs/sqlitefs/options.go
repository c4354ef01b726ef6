package sqlitefs

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// Options adjust a store; nil or the zero value is the default.
type Options struct {
	// Namespace is the part of the table that the store shows; "" means "default".
	Namespace string
	// ReadOnly refuses writes. With Open, no byte of any file of the database or
	// beside it changes: a database with a write-ahead log is read from a private
	// copy in the system's folder for temporary files.
	ReadOnly bool
	// MustExist makes Open refuse a file that is not there instead of creating it.
	MustExist bool
	// Relaxed makes Open commit without waiting for the disk at every write: a
	// power failure may lose the last writes, a crash of the program does not. It
	// has no effect on a database without a write-ahead log.
	Relaxed bool
	// BusyTimeout is how long an operation waits while another program holds the
	// database; 0 means 10 seconds.
	BusyTimeout time.Duration
	// PollInterval is how often changes of other programs are looked for while
	// someone watches, and how old a private copy may be, unless that takes more
	// than a tenth of it to make; 0 means 250 ms.
	PollInterval time.Duration
	// IndexFrom is how many bytes a database that Open opens has at least for which the
	// first search makes an index, in memory; 0 means 1 MB, and with a negative number
	// none is made.
	IndexFrom int64
	// NewRevision makes the revision of each write; nil means revision.New.
	NewRevision revision.Func
	// Now is the clock that dates each write; nil means time.Now.
	Now func() time.Time
}

const (
	defaultNamespace = "default"
	defaultBusy      = 10 * time.Second
	defaultPoll      = 250 * time.Millisecond
)

// filled returns o with defaults in place of zero values.
func (o *Options) filled() (Options, error) {
	var f Options
	if o != nil {
		f = *o
	}
	if f.Namespace == "" {
		f.Namespace = defaultNamespace
	}
	if f.BusyTimeout < 0 || f.PollInterval < 0 {
		return f, fmt.Errorf("%w: BusyTimeout and PollInterval must not be negative", fs.ErrInvalid)
	}
	if f.BusyTimeout == 0 {
		f.BusyTimeout = defaultBusy
	}
	if f.PollInterval == 0 {
		f.PollInterval = defaultPoll
	}
	if f.IndexFrom == 0 {
		f.IndexFrom = defaultIndexFrom
	}
	if f.NewRevision == nil {
		f.NewRevision = revision.New
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	return f, tablerow.CheckNamespace(f.Namespace)
}
