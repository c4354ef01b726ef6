// Package database is what the command asks of a database: a store that keeps the
// files of several namespaces where they last. Verbs that check, back up, restore,
// compact or replay know this package and not the databases themselves. A kind of
// database is a file here, which implements Kind and Database, and a line in
// package storeurl, which has its URLs.
package database

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// Want is what a verb will do with a store. The zero value looks: it never makes
// or changes a store, so a mistyped name is an error and not a new database.
type Want struct {
	Write  bool // the store must be one that can be written
	Create bool // the store is made when there is none; with Write
	// Lazy puts off Create until a file is written, and leaves no empty store behind.
	Lazy bool
	// Relaxed is for many writes: they are on disk when the store is closed, and
	// until then survive the end of the process but not a loss of power.
	Relaxed bool
	// Long is for looking at a store for a long time, during which others change it.
	Long bool
	// Await is for waiting for what others write: a namespace without files is no mistake.
	Await bool
	// AsIs refuses a database whose last writer was killed, with ErrKilled, where a look
	// would else take in what that has left.
	AsIs bool
}

// Options say how a database is opened.
type Options struct {
	Want
	Name      string // how the command calls it, for messages
	Target    string // the folder, the file or the server
	Namespace string // "" means the default one
	ReadOnly  bool   // not a byte beside the database may change either
	// Note tells a person, in one sentence, what opening did beyond that.
	Note func(text string)
	// NewRevision and Now are for what is written; nil means their defaults.
	NewRevision revision.Func
	Now         func() time.Time
	// Logger is told what happens to connections later; nil discards it.
	Logger *slog.Logger
}

// ErrEmpty means that there is a server and it has no tables of a store yet. It goes
// along with fs.ErrNotExist.
var ErrEmpty = postgresfs.ErrNoTables

// Kind is one kind of database.
type Kind interface {
	// Open opens the database and shows the files of one namespace. fs.ErrNotExist:
	// there is none, and Create was not asked for. Other errors are sentences without
	// the name of the database.
	Open(ctx context.Context, o Options) (Database, error)

	// Repair mends what can be mended in a database that nobody has open. It keeps
	// what it replaces, and calls report for each problem when it is known what
	// became of it. After an error nothing was changed.
	Repair(ctx context.Context, r Repair, report func(Problem)) (Repaired, error)
}

// Database is an open database, seen as the files of one namespace. It is safe for
// concurrent use. Whoever opened it, or took a view, closes that.
type Database interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Router
	io.Closer

	// Namespaces returns the names of those that hold files, in order.
	Namespaces(ctx context.Context) ([]string, error)
	// View returns the files of another namespace of the same opening. fs.ErrInvalid:
	// no store can have that name.
	View(name string) (Database, error)
	// Check reads the database as such, in all namespaces, and reports what is wrong
	// with it beyond what the files themselves show.
	Check(ctx context.Context, report func(Problem)) error
	// Restore creates files, with their revisions and times where the database can
	// give them those. Its error names the first, or each, that was refused.
	Restore(ctx context.Context, files []vfs.File) error
	// Compact gives the space of what was replaced or removed back to the disk.
	Compact(ctx context.Context) error
	// DiskUse returns how many bytes of a disk the database takes.
	DiskUse(ctx context.Context) (int64, error)
}

// Snapshotter is a Database that can be read as it is at one moment while others
// write.
type Snapshotter interface {
	// Snapshot yields the files of the namespace in order. An error of type
	// leftout.Entry concerns one file, and the rest follows; another one is the last.
	Snapshot(ctx context.Context) iter.Seq2[vfs.File, error]
}

// Copier is a Database that has a form of its own for backups: a database again.
type Copier interface {
	// Backup writes the whole database to a new file.
	Backup(ctx context.Context, file string) error
}

// Triggered is a Database that may run what whoever made it has put there.
type Triggered interface {
	// Triggers returns the names of what runs when a file is written or removed.
	Triggers(ctx context.Context) ([]string, error)
}

// Unlister is a Database that may hold what no list shows.
type Unlister interface {
	// Unlisted returns what the lists of a directory leave out.
	Unlisted(ctx context.Context, dir string) ([]leftout.Entry, error)
}

// Nameless is a Database whose rows another program can give a namespace that is no name.
type Nameless interface {
	// Nameless returns how many rows there are in such namespaces.
	Nameless(ctx context.Context) (int, error)
}

// OfNoName returns how many rows of a database no namespace shows.
func OfNoName(ctx context.Context, db Database) (int, error) {
	if n, ok := db.(Nameless); ok {
		return n.Nameless(ctx)
	}
	return 0, nil
}

// Indexer is a Database that keeps an index of searches where the files are.
type Indexer interface {
	// Index makes the index of the namespace anew, and calls progress after each file.
	Index(ctx context.Context, progress func(gramindex.Progress)) error
	// IndexStatus tells of the index. An error that is not ctx's says why the one that
	// is kept cannot be used.
	IndexStatus(ctx context.Context) (gramindex.Status, error)
}

// Problem is one fault that Check or Repair found.
type Problem struct {
	Namespace string `json:"namespace,omitempty"`
	Path      string `json:"path,omitempty"` // as it is stored; "" for the database itself
	File      string `json:"file,omitempty"` // of the database's own
	Rule      string `json:"rule,omitempty"`
	Text      string `json:"problem"`          // one sentence
	Mend      string `json:"repair,omitempty"` // what Repair does about it, "" for nothing
	Repaired  bool   `json:"repaired,omitempty"`
	Lost      bool   `json:"lost,omitempty"` // a repair could not keep it
}

// Repair is one run of Kind.Repair.
type Repair struct {
	Name   string // how the command calls the database, for messages
	Target string
	// Open opens the database; its errors say how it is called. The caller closes
	// what it returns.
	Open func(ctx context.Context, want Want) (Database, error)
}

// Repaired says what a repair has left behind.
type Repaired struct {
	Quarantine string // the name of what was replaced, "" when nothing was
	Unsure     bool   // more may be lost than can be counted
}

// writeAll is Restore for databases that give files new revisions.
func writeAll(ctx context.Context, b vfs.Backend, files []vfs.File) error {
	for _, f := range files {
		if _, err := vfs.Write(ctx, b, f.Path, f.Content, ""); err != nil {
			return err
		}
	}
	return nil
}
