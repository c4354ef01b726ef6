package journalfs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// ErrNoMoment is matched by the errors of moments that a journal does not have.
var ErrNoMoment = errors.New("the journal does not have this moment")

var errNoBase = fmt.Errorf("%w: its first look at the store has not ended", ErrNoMoment)

// Moment is when files are looked at. The zero value is the newest one.
type Moment struct {
	// Revision is the write right after which it is; "" for a moment that Time says.
	Revision vfs.Revision
	// Time includes what was seen in its millisecond; the zero time is the newest.
	Time time.Time
}

// momentForms are how a time is written; without a zone it is the local one.
var momentForms = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

// ParseMoment reads a time, as in 2026-11-30T12:00:05Z, 2026-11-30T12:00 or
// 2026-11-30, of the location of now where it has no zone; a time before now, as in
// -10m; else a revision. The empty text is the newest moment.
func ParseMoment(text string, now time.Time) (Moment, error) {
	for _, form := range momentForms {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return Moment{Time: t}, nil
		}
	}
	if strings.HasPrefix(text, "-") {
		if d, err := time.ParseDuration(text); err == nil {
			return Moment{Time: now.Add(d)}, nil
		}
	}
	if strings.ContainsAny(text, ": /") {
		return Moment{}, fmt.Errorf("%q is neither a revision nor a time: write a time as 2026-11-30T12:00:05, or -10m for ten minutes ago", text)
	}
	return Moment{Revision: vfs.Revision(text)}, nil
}

// place is a moment in the file: everything that begins at or before at and was seen
// at or before time.
type place struct{ at, time int64 }

func (p place) has(e entry) bool { return e.at <= p.at && e.time <= p.time }

// newest is the place of everything there is.
func newest() place { return place{math.MaxInt64, math.MaxInt64} }

// place returns where a moment is. It reads the journal from its end.
func (r reader) place(ctx context.Context, m Moment) (place, error) {
	base, err := r.base(ctx)
	if err != nil {
		return place{}, err
	}
	p := newest()
	switch {
	case m.Revision != "":
		if p.at, err = r.written(ctx, m.Revision); err != nil {
			return p, err
		}
		p.at = max(p.at, base.at) // what the first moment shows stands before it
	case !m.Time.IsZero():
		p.time = m.Time.UnixMilli()
	}
	if p.time < base.time {
		return p, fmt.Errorf("%w: it begins at %s", ErrNoMoment, time.UnixMilli(base.time).Format("2006-01-02T15:04:05.000Z07:00"))
	}
	return p, nil
}

// base returns the first moment of the journal.
func (r reader) base(ctx context.Context) (entry, error) {
	for s, err := range r.spans(ctx) {
		if err != nil {
			return entry{}, err
		}
		if s.marked && s.mark.base > 0 {
			return entry{kind: Base, at: s.mark.base, time: s.mark.baseTime}, nil
		}
		base := entry{}
		err := r.each(ctx, s, func(e entry) bool {
			if e.kind == Base {
				base = e
			}
			return base.at == 0
		})
		if base.at > 0 || err != nil {
			return base, err
		}
		break
	}
	return entry{}, errNoBase
}

// written returns where the write of a revision stands.
func (r reader) written(ctx context.Context, rev vfs.Revision) (int64, error) {
	for s, err := range r.spans(ctx) {
		var at int64
		if err == nil {
			err = r.each(ctx, s, func(e entry) bool {
				if e.kind == Write && e.revision == rev {
					at = e.at
				}
				return at == 0
			})
		}
		if at > 0 || err != nil {
			return at, err
		}
	}
	return 0, fmt.Errorf("%w: no file had the revision %.40q", ErrNoMoment, rev)
}
