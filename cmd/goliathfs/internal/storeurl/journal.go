package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// cutMoment cuts the moment off the name of a journal, which has an "@" of its own
// written as %40.
func cutMoment(target string) (name, moment string, err error) {
	i := strings.LastIndexByte(target, '@')
	if i < 0 {
		return target, "", nil
	}
	if moment, err = decode(target[i+1:]); err != nil {
		return "", "", err
	}
	if moment == "" {
		return "", "", errors.New("behind the @ stands no moment: write a time or a revision, leave the @ out for the newest one, or write %40 for one in a name")
	}
	_, err = journalfs.ParseMoment(moment, time.Now())
	return target[:i], moment, err
}

// Past is the files of a journal as they were at a moment.
type Past struct {
	*journalfs.Snapshot
	history *journalfs.History
}

// Check reads the whole journal and calls report for each damaged place.
func (p Past) Check(ctx context.Context, report func(error)) (journalfs.Checked, error) {
	return p.history.Check(ctx, report)
}

// journal opens the files of a journal at the moment that the URL names.
func (o *Opener) journal(ctx context.Context, u URL) (vfs.Backend, error) {
	moment, err := journalfs.ParseMoment(u.Moment, time.Now())
	if err != nil {
		return nil, Misuse{err}
	}
	history, err := OpenJournal(u.Target)
	if err != nil {
		return nil, err
	}
	files, err := history.At(ctx, moment)
	if err != nil {
		return nil, errors.Join(momentHint(u, err), history.Close())
	}
	o.closeLater(history)
	return Past{files, history}, nil
}

// momentHint says what helps where a moment cannot be opened.
func momentHint(u URL, err error) error {
	name := URL{Scheme: Journal, Target: u.Target}
	switch {
	case errors.Is(err, journalfs.ErrDamaged):
		return fmt.Errorf("%w; an earlier moment may be whole, as in %s@TIME, and what happened is in goliathfs log %s", err, name, u.Target)
	case errors.Is(err, journalfs.ErrNoMoment):
		return fmt.Errorf("%w, see goliathfs log %s", err, u.Target)
	}
	return err
}

// OpenJournal opens a journal for reading. Its errors are sentences without its name.
func OpenJournal(name string) (*journalfs.History, error) {
	history, err := journalfs.OpenHistory(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noJournal{}
	}
	return history, err
}

// noJournal matches fs.ErrNotExist.
type noJournal struct{}

func (noJournal) Error() string {
	return "there is no such journal, check the name, or make one with goliathfs journal STORE --to FILE"
}
func (noJournal) Unwrap() error { return fs.ErrNotExist }

// isJournal reports whether a file begins as a journal does.
func isJournal(name string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	history, err := journalfs.OpenHistory(name)
	if err == nil {
		err = history.Close()
	}
	return err == nil
}

// ParsePast reads a file at a moment, written FILE@MOMENT:/path, where there is a file
// of that name; a moment has no slash in it.
func ParsePast(raw string) (u URL, path string, ok bool) {
	for i := range len(raw) {
		if !strings.HasPrefix(raw[i:], ":/") {
			continue
		}
		at := strings.LastIndexByte(raw[:i], '@')
		if at <= 0 || strings.Contains(raw[at:i], "/") {
			continue
		}
		name := strings.TrimPrefix(raw[:at], string(Journal)+":")
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return URL{Scheme: Journal, Target: name, Moment: raw[at+1 : i]}, raw[i+1:], true
		}
	}
	return URL{}, "", false
}
