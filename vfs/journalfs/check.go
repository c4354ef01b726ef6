package journalfs

import (
	"context"
	"errors"
)

// Checked is what Check has read.
type Checked struct {
	Entries int   // that are whole
	Bytes   int64 // of the file
}

// Check reads every byte of the journal and calls report with an error for each place
// that has changed, which matches ErrDamaged. Its own error says that it could not
// read on.
func (h *History) Check(ctx context.Context, report func(error)) (Checked, error) {
	done := Checked{Bytes: h.r.size}
	s := scanner{ctx: ctx, r: h.r, at: headerSize}
	for {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		from := s.at
		head, ok, err := s.next()
		switch {
		case err != nil && !errors.Is(err, ErrDamaged):
			return done, err
		case err != nil:
			report(err)
			if s.at, ok, err = h.r.resume(from, head); err != nil || !ok {
				return done, err
			}
		case !ok:
			return done, nil
		default:
			err := h.r.checkRecord(head, &s)
			if err != nil && !errors.Is(err, ErrDamaged) {
				return done, err
			}
			if err != nil {
				report(err)
			} else if head.kind.isEntry() {
				done.Entries++
			}
		}
	}
}

// resume returns where records go on behind one that is damaged: behind it, if its
// head is whole, else at the next checkpoint.
func (r reader) resume(at int64, h head) (int64, bool, error) {
	if h.at == at && h.kind != 0 {
		return h.end(), true, nil
	}
	for at = (at/alignment + 1) * alignment; at < r.size; at += alignment {
		if h, ok, err := r.head(at); err != nil || ok && h.kind == checkpoint {
			return at, ok, err
		}
	}
	return 0, false, nil
}

// checkRecord compares both parts of a record with their checksums.
func (r reader) checkRecord(h head, s *scanner) error {
	what := "a table"
	if h.kind.isEntry() {
		e, err := s.entry(h)
		if err != nil {
			return err
		}
		what = "the content of " + e.path
	}
	meta, body, _, err := r.sums(h)
	switch {
	case err != nil:
		return err
	case meta != h.metaSum:
		return damagedAt(h.metaAt(), "what stands there does not match its checksum")
	case body != h.sum:
		return damagedAt(h.bodyAt(), "%s does not match its checksum", what)
	}
	return nil
}
