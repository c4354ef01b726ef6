package journalfs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// foldAgain is by how many bytes a journal grows at least before a fold that failed is
// tried again.
const foldAgain = 1 << 20

// bound folds the oldest states when the journal has become too large or too old. One
// that cannot be folded says so and grows on, for a while. The lock of the journal is
// held.
func (j *Journal) bound() {
	if j.w.end < j.foldAt || j.w.base == 0 {
		return
	}
	cut, err := j.cut()
	if err == nil && cut.at > 0 {
		if err = j.fold(cut); err == nil {
			j.foldAt = 0
			err = syncFolder(j.name)
		}
	}
	if err != nil {
		j.foldAt = j.w.end + max(foldAgain, j.w.end/8) // what is written in vain is in proportion
		text := "folding the states before this failed, so the journal grows from here: " + err.Error()
		_ = j.w.put(entry{kind: Gap, path: "/", time: j.opts.Now().UnixMilli(), text: text}, "") // the next record tells of a full disk
	}
}

// cut returns behind which place the journal is kept as it is, the zero place when
// nothing is to be folded.
func (j *Journal) cut() (place, error) {
	var byAge place
	if age := j.opts.MaxAge; age > 0 {
		if now := j.opts.Now(); now.Add(-age).Add(-age/4).UnixMilli() > j.w.baseTime {
			byAge = place{newest().at, now.Add(-age).UnixMilli()}
		}
	}
	if j.opts.MaxBytes < 0 || j.w.end <= max(j.opts.MaxBytes, 2*j.folded) {
		return byAge, nil
	}
	m, err := j.smaller()
	if err != nil || byAge.at > 0 && byAge.time > m.point.time {
		return byAge, err
	}
	return place{m.at, newest().time}, nil
}

// smaller returns the oldest checkpoint behind which the journal and the state there
// have at most half of the bytes that it may have, else the newest one.
func (j *Journal) smaller() (mark, error) {
	if err := j.w.mark(); err != nil {
		return mark{}, err
	}
	var found mark
	r := reader{j.w.file, j.w.salt, j.w.end}
	for s, err := range r.spans(context.Background()) {
		stays := r.size - s.mark.end() + s.mark.point.bytes
		if err != nil || !s.marked || found.at > 0 && (s.mark.at <= j.w.base || stays > j.opts.MaxBytes/2) {
			return found, err
		}
		found = s.mark
	}
	return found, nil
}

// fold makes everything up to a place one state: it writes the journal anew beside
// itself, and puts that in its place. After an error the journal is as it was.
func (j *Journal) fold(cut place) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(j.name), "."+filepath.Base(j.name)+".fold-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, temp.Close(), os.Remove(temp.Name()))
		}
	}()
	w, err := j.refold(temp, cut)
	if err != nil {
		return err
	}
	if info, err := j.w.file.Stat(); err == nil {
		if err := temp.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	lock, err := lockFile(temp)
	if err != nil {
		return err
	}
	w.reserved = j.w.reserved
	if err = errors.Join(w.makeRoom(0), temp.Sync()); err == nil {
		err = j.here()
	}
	if err == nil {
		err = os.Rename(temp.Name(), j.name)
	}
	if err != nil {
		return errors.Join(err, lock.release())
	}
	old, oldLock := j.w.file, j.lock
	j.w, j.lock, j.folded = w, lock, w.end
	// What it was has no name any more: there is nothing to save of it.
	_, _ = oldLock.release(), old.Close()
	return nil
}

// refold writes into an empty file what stays of the journal.
func (j *Journal) refold(temp *os.File, cut place) (writer, error) {
	r := reader{j.w.file, j.w.salt, j.w.end}
	files, err := r.filesAt(context.Background(), cut)
	if err != nil {
		return writer{}, err
	}
	w, err := beginWriter(temp, j.opts.Now())
	if err != nil {
		return w, err
	}
	copied := func(e entry) error {
		content := ""
		if e.kind == Write {
			if content, err = r.content(e); err != nil {
				return err
			}
		}
		if err := w.add(e, content); err != nil {
			return err
		}
		if w.due() {
			return errors.Join(w.flush(), w.mark())
		}
		return nil
	}
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	for _, e := range files {
		if err := copied(e); err != nil {
			return w, err
		}
	}
	base := entry{kind: Base, path: "/", time: w.last, text: "the states before this were folded into one"}
	if cut.time < newest().time {
		base.time = cut.time
	} else if m, ok, err := r.markAt(cut.at); err == nil && ok {
		base.time = m.point.time
	}
	if err := copied(base); err != nil {
		return w, err
	}
	s := scanner{ctx: context.Background(), r: r, at: headerSize}
	for {
		h, ok, err := s.next()
		if err != nil {
			return w, err
		}
		if !ok {
			return w, errors.Join(w.flush(), w.mark())
		}
		if !h.kind.isEntry() {
			continue
		}
		e, err := s.entry(h)
		if err == nil && !cut.has(e) && e.kind != Base {
			err = copied(e)
		}
		if err != nil {
			return w, err
		}
	}
}
