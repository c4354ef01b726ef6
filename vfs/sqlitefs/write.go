package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
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
	if err := vfs.CheckContent(content); err != nil {
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
	changed, err := s.change(ctx, h, func() (sql.Result, error) {
		if expected == "" {
			return h.w.exec(ctx, h.w.insert, s.space.name, path, keyOf(path), content, string(rev))
		}
		return h.w.exec(ctx, h.w.update, s.space.name, path, string(expected), content, string(rev))
	})
	if err == nil && !changed {
		err = vfs.ErrConflict
	}
	if err != nil {
		return vfs.Info{}, 0, err
	}
	info := vfs.Info{Path: path, Revision: rev, Size: int64(len(content)), ModTime: now.Truncate(time.Millisecond)}
	if h.utf16 {
		info.Size = -1
	}
	return info, s.queue(vfs.Event{Path: path, Info: info, Old: old}), nil
}

// change runs one statement and reports whether it changed a row.
func (s *FS) change(ctx context.Context, h *handle, exec func() (sql.Result, error)) (bool, error) {
	var n int64
	err := s.db.patiently(ctx, func() error {
		result, err := exec()
		if err == nil {
			n, err = result.RowsAffected()
		}
		return err
	})
	if n > 0 && h.wal {
		s.db.flush.schedule(s.db.checkpoint)
	}
	return n > 0, err
}

// watched returns the file that a write will replace, nil when no one watches or
// there is none. It needs no transaction: revisions never return, so when the
// write finds the same revision, this was the content.
func (s *FS) watched(ctx context.Context, h *handle, path string, expected vfs.Revision) (*vfs.File, error) {
	if expected == "" || !s.space.hub.Active() {
		return nil, nil
	}
	f, err := s.load(ctx, h, h.w.file, path)
	if errors.Is(err, vfs.ErrNotFound) || err == nil && f.Revision != expected {
		return nil, nil // the write itself will find out
	}
	if err != nil {
		return nil, err
	}
	return &f.File, nil
}

// queue tells the watchers in the order of commits, which the turn keeps.
func (s *FS) queue(e vfs.Event) uint64 {
	s.space.poll.note(e)
	return s.space.hub.Queue(e)
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
	changed := false
	if expected != "" { // no rule-abiding row has an empty revision
		changed, err = s.change(ctx, h, func() (sql.Result, error) {
			return h.w.exec(ctx, h.w.delete, s.space.name, path, string(expected))
		})
	}
	switch {
	case err != nil:
		return 0, err
	case !changed:
		if _, err := s.stat(ctx, h, path); err != nil {
			return 0, err
		}
		return 0, vfs.ErrConflict
	}
	return s.queue(vfs.Event{Path: path, Info: vfs.Info{Path: path}, Old: old}), nil
}
