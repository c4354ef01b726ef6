package vfs

import (
	"context"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"
)

// Revision names one version of one file. It is opaque: compare it for
// equality only. It changes on every write, also one of equal content, and
// after a delete and recreate, and never returns. The empty Revision means "the
// file must not exist".
type Revision string

// Info describes a file without its content.
type Info struct {
	Path     string    // canonical, absolute
	Revision Revision  // never empty for a file that exists
	Size     int64     // bytes; -1 when the backend cannot tell without reading
	ModTime  time.Time // zero when unknown
}

// File is a file as it was at one moment: content and revision belong together.
type File struct {
	Info
	Content string // exact bytes
}

// ListOptions selects a page. The zero value is the first page of 64.
type ListOptions struct {
	// After is an exclusive lower bound: any valid UTF-8, not necessarily a path.
	After string
	// Limit is the greatest number of files on the page: 1 to 256, 0 means 64.
	Limit int
}

// The limits of ListOptions.Limit.
const (
	defaultLimit = 64
	maxLimit     = 256
)

// Checked returns o with the default limit filled in, or an error that wraps
// fs.ErrInvalid. Backends call it first in List.
func (o ListOptions) Checked() (ListOptions, error) {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	if o.Limit < 1 || o.Limit > maxLimit {
		return o, fmt.Errorf("%w: list limit %d is outside 1 to %d", fs.ErrInvalid, o.Limit, maxLimit)
	}
	if !utf8.ValidString(o.After) {
		return o, fmt.Errorf("%w: the list bound is not valid UTF-8", fs.ErrInvalid)
	}
	return o, nil
}

// Page is one page of a listing or a search. It belongs to the caller, who may
// change it.
type Page struct {
	Files []Info // in order of vpath.Compare
	Next  string // the bound of the next page, of List the last path of Files; "" at the end
}

// Backend is the least a store must do. Every method is safe for concurrent
// use, honours ctx before it does work, and returns errors that match the
// sentinels of this package with errors.Is; an error of any other kind means
// that the store itself failed. Paths are canonical (see package vpath): the
// package functions make them so, and built-in backends refuse others with
// ErrInvalidPath.
type Backend interface {
	// Read returns the whole file. ErrNotFound: there is none. ErrNotText: its
	// bytes are not valid UTF-8. The content and the revision are of one commit.
	Read(ctx context.Context, path string) (File, error)

	// List returns the files at or below dir, recursively, in order of
	// vpath.Compare: the file at dir itself, if there is one, and all whose path
	// continues with "/". A directory that does not exist gives an empty page.
	// Each page is a live view; files that neither come nor go while pages are
	// followed appear exactly once. List does not read contents where the store
	// can avoid it.
	List(ctx context.Context, dir string, opts ListOptions) (Page, error)
}

// Writer is implemented by a Backend that can create and replace files.
type Writer interface {
	// Write creates the file when expected is empty, and replaces exactly the
	// version expected otherwise; check and change are one atomic step. It returns
	// the new Info. ErrConflict: the file exists and expected is empty, is at
	// another revision, or is gone. ErrTooLarge: the store takes no content of this
	// size. ErrNotText: it takes valid UTF-8 alone. ErrReadOnly: this path cannot be
	// written. On every error the file is as it was, except that after a store
	// failure, or when ctx ended while the store was at work, the caller must read to
	// know. A change that was made behind an error is told to watchers all the same,
	// at least by an overflow.
	Write(ctx context.Context, path, content string, expected Revision) (Info, error)
}

// Remover is implemented by a Backend that can remove files.
type Remover interface {
	// Remove removes the one file at path, never what lies below it, if it is at
	// the revision expected; check and change are one atomic step. ErrNotFound:
	// there is none. ErrConflict: it is at another revision, or expected is empty.
	// ErrReadOnly: this path cannot be removed. Other errors are as those of Write.
	Remove(ctx context.Context, path string, expected Revision) error
}

// Statter is implemented by a Backend that has a cheaper way to one Info than
// List.
type Statter interface {
	// Stat returns what List would say of the file at path, or ErrNotFound.
	Stat(ctx context.Context, path string) (Info, error)
}

// Route is the place that a path belongs to.
type Route struct {
	// Prefix is the directory whose files come from the same place, "/" for the
	// default one. It is canonical, and the path is at or below it.
	Prefix string
	// Writable says that files there can be written now. What it says is no
	// promise: the place may change it, and Write has the last word.
	Writable bool
	// Shared says that other processes may change files there, of which the store
	// learns only some time later.
	Shared bool
}

// Router is implemented by a Backend whose paths do not all behave alike, or
// that can be out of reach.
type Router interface {
	// Route returns the place of a canonical path, of a file or a directory.
	// ErrUnavailable: that place cannot be reached now; then Prefix is the place
	// as far as it is known, and the error names it where there are several. Ask
	// again to know whether it is back.
	Route(ctx context.Context, path string) (Route, error)
}

// Event is one change of one file, or the note that some may have been missed.
type Event struct {
	// Path is the file that changed. For an overflow it is the directory watched.
	Path string
	// Info is the file after the change; its Revision is empty when the file was
	// removed.
	Info Info
	// Old is the file that was replaced or removed. It is nil when the file is
	// new, and when another process made the change. Watchers share it: do not
	// change it.
	Old *File
	// Overflow means: changes below Path may have gone unreported, look again.
	Overflow bool
}

// Watcher is implemented by a Backend that reports changes.
type Watcher interface {
	// Watch calls fn for each change at or below dir, one call at a time, in
	// order of commit, until ctx ends; then it returns ctx's error, and fn is not
	// called again. The first call is always an overflow, made when the watch is
	// in place: what changes from then on is reported, so look at what is there.
	//
	// For a write of this process fn runs after the commit, outside every lock,
	// before Write or Remove returns, so fn must be quick and must not write to
	// the backend itself. Changes of other processes arrive when the store learns
	// of them. A backend that cannot watch returns errors.ErrUnsupported at once.
	Watch(ctx context.Context, dir string, fn func(Event)) error
}
