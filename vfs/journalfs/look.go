package journalfs

import (
	"context"
	"errors"

	"github.com/goliathfs/goliathfs/vfs"
)

// What is said of changes that a journal may lack.
const (
	notFollowed = "what follows was changed while the journal was not being written, and was seen only now"
	overflowed  = "what follows was seen late, and what was replaced before that is missing"
)

// look goes through the store and adds what differs. Unless it is the first look, the
// journal then says why what was between may be missing.
func (j *Journal) look(ctx context.Context, in vfs.Inner, why string) error {
	j.mu.Lock()
	first := j.w.base == 0
	left := make(map[string]bool, len(j.w.live))
	for path := range j.w.live {
		left[path] = true
	}
	j.mu.Unlock()
	said := first
	differs := func(path string) error {
		if !said {
			said = true
			if err := j.add(entry{kind: Gap, path: "/", text: why}, ""); err != nil {
				return err
			}
		}
		return j.see(ctx, in, path)
	}
	for after, more := "", true; more; {
		page, err := in.List(ctx, "/", vfs.ListOptions{After: after, Limit: 256})
		if err != nil {
			return err
		}
		for _, info := range page.Files {
			delete(left, info.Path)
			if !j.has(info.Path, info.Revision) {
				if err := differs(info.Path); err != nil {
					return err
				}
			}
		}
		after, more = page.Next, page.Next != ""
	}
	for path := range left {
		if err := differs(path); err != nil {
			return err
		}
	}
	if first {
		return j.add(entry{kind: Base, path: "/", text: "here the journal begins"}, "")
	}
	return nil
}

// see adds what the store has at path now, if the journal has something else.
func (j *Journal) see(ctx context.Context, in vfs.Inner, path string) error {
	release, err := j.takeTurn(ctx, path)
	if err != nil {
		return err
	}
	defer release()
	f, err := in.Read(ctx, path)
	switch {
	case errors.Is(err, vfs.ErrNotFound):
		return j.addOnce(entry{kind: Removal, path: path}, "", 0)
	case errors.Is(err, vfs.ErrNotText):
		return j.miss(ctx, in, path, err.Error())
	case err != nil:
		return err
	}
	return j.addFile(path, f)
}

// addFile adds what a file is now. The turn of the path is taken.
func (j *Journal) addFile(path string, f vfs.File) error {
	if len(f.Content) <= maxContent {
		return j.addOnce(written(path, f.Info), f.Content, 0)
	}
	if j.has(path, f.Revision) {
		return nil
	}
	return j.add(entry{kind: Missed, path: path, revision: f.Revision, text: tooLarge(len(f.Content)).Error()}, "")
}

// miss adds that the file at path has a revision whose content is not here. The turn
// of the path is taken.
func (j *Journal) miss(ctx context.Context, in vfs.Inner, path, why string) error {
	info, err := in.Stat(ctx, path)
	if errors.Is(err, vfs.ErrNotFound) {
		return nil
	}
	if err != nil || j.has(path, info.Revision) {
		return err
	}
	return j.add(entry{kind: Missed, path: path, revision: info.Revision, text: why}, "")
}
