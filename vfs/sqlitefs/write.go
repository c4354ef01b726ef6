package sqlitefs

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Write implements vfs.Writer.
func (s *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	if s.db.opts.ReadOnly {
		return vfs.Info{}, vfs.ErrReadOnly
	}
	if err := textfile.Check(content); err != nil {
		return vfs.Info{}, err
	}
	info, seq, err := s.replace(ctx, path, content, expected)
	s.space.hub.Deliver(seq)
	return info, err
}

// begin takes the turn to write; the caller calls finish.
func (s *FS) begin(ctx context.Context) (*handle, error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.db.take(ctx, s.db.turn); err != nil {
		s.db.release()
		return nil, err
	}
	return h, nil
}

func (s *FS) finish() {
	<-s.db.turn
	s.db.release()
}

func (s *FS) replace(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, uint64, error) {
	h, err := s.begin(ctx)
	if err != nil {
		return vfs.Info{}, 0, err
	}
	defer s.finish()
	old, err := s.watched(ctx, h, path, expected)
	if err != nil {
		return vfs.Info{}, 0, err
	}
	now := s.db.opts.Now()
	rev := s.db.opts.NewRevision(now, expected)
	e := edit{path, content, expected, rev, h.w.update, updateFile, []any{s.space.name, path, string(expected), content, string(rev)}}
	if expected == "" {
		e.unruled, e.query = h.w.insert, insertFile+elseNothing
		e.args = []any{s.space.name, path, tablerow.KeyOf(path), content, string(rev)}
	}
	did, err := s.change(ctx, h, e)
	switch did {
	case unknown:
		return vfs.Info{}, s.queueOverflow(), err
	case unchanged:
		return vfs.Info{}, 0, cmp.Or(err, error(vfs.ErrConflict))
	}
	info := vfs.Info{Path: path, Revision: rev, Size: int64(len(content)), ModTime: now.Truncate(time.Millisecond)}
	if h.utf16 {
		info.Size = -1
	}
	return info, s.tell(expected, vfs.Event{Path: path, Info: info, Old: old}), nil
}

// watched returns the file that a write will replace; nil when there is none, no
// one watches, or its content cannot be shown. It needs no transaction:
// revisions never return, so when the write finds the same revision, this was
// the content.
func (s *FS) watched(ctx context.Context, h *handle, path string, expected vfs.Revision) (*vfs.File, error) {
	if expected == "" || !s.space.hub.Active() {
		return nil, nil
	}
	f, err := s.load(ctx, h, h.w.file, path)
	if errors.Is(err, vfs.ErrNotFound) || err == nil && (f.Revision != expected || checkText(f) != nil) {
		return nil, nil // the write itself will find out
	}
	if err != nil {
		return nil, err
	}
	return &f.File, nil
}

// tell queues the event of a write that replaced the revision expected. Who
// began to watch after the old content could be read is asked to look.
func (s *FS) tell(expected vfs.Revision, e vfs.Event) uint64 {
	if expected != "" && e.Old == nil {
		s.space.poll.note(e)
		return s.queueOverflow()
	}
	return s.queue(e)
}

// queue tells the watchers in the order of commits, which the turn keeps.
func (s *FS) queue(e vfs.Event) uint64 {
	s.space.poll.note(e)
	return s.space.hub.Queue(e)
}

func (s *FS) queueOverflow() uint64 {
	return s.space.hub.Queue(vfs.Event{Path: "/", Overflow: true})
}

// Remove implements vfs.Remover.
func (s *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := vpath.CheckFile(path); err != nil {
		return err
	}
	if s.db.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	seq, err := s.remove(ctx, path, expected)
	s.space.hub.Deliver(seq)
	return err
}

func (s *FS) remove(ctx context.Context, path string, expected vfs.Revision) (uint64, error) {
	h, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer s.finish()
	old, err := s.watched(ctx, h, path, expected)
	if err != nil {
		return 0, err
	}
	did := unchanged
	if expected != "" { // no rule-abiding row has an empty revision
		did, err = s.change(ctx, h, edit{path, "", expected, "", h.w.delete, deleteFile, []any{s.space.name, path, string(expected)}})
	}
	switch {
	case did == unknown:
		return s.queueOverflow(), err
	case err != nil:
		return 0, err
	case did == unchanged:
		if _, err := s.stat(ctx, h, path); err != nil {
			return 0, err
		}
		return 0, vfs.ErrConflict
	}
	return s.tell(expected, vfs.Event{Path: path, Info: vfs.Info{Path: path}, Old: old}), nil
}
