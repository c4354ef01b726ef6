package sqlitefs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// checkRow says which rule of the table a row breaks, nil when it can be shown.
func checkRow(path, key, rev string) error {
	switch {
	case vpath.CheckFile(path) != nil:
		return &rowError{fmt.Sprintf("the row's path breaks the rules (%v), so check the store and repair it", vpath.CheckFile(path))}
	case !tablerow.IsKeyOf(key, path):
		return errBadKey
	case rev == "" || !utf8.ValidString(rev):
		return errBadRevision
	}
	return nil
}

// scanned returns two values of a row as text, and "", which checkRow refuses,
// for a BLOB or NULL: SQL would not find that under the same text either.
func scanned(a, b any) (string, string) {
	textA, _ := a.(string)
	textB, _ := b.(string)
	return textA, textB
}

// rowError is the fault of a row that another program wrote.
type rowError struct{ text string }

func (e *rowError) Error() string { return e.text }

var (
	errBadKey      = &rowError{"the row's order key is not that of its path, so check the store and repair it"}
	errBadRevision = &rowError{"the row's revision is missing or no text, so check the store and repair it"}
)

// infoOf describes a row that checkRow passed.
func (h *handle) infoOf(path, rev string, bytes int64) vfs.Info {
	if h.utf16 {
		bytes = -1 // the database counts in its own encoding
	}
	return vfs.Info{Path: path, Revision: vfs.Revision(rev), Size: bytes, ModTime: modTime(rev)}
}

// modTime returns when a revision was made: by a phone, in the form
// <base36 milliseconds>-<base36 counter>-<random>, or by package revision.
// Zero for any other. A 12-character revision of package revision could look
// like a phone's of before 1999 or after 2031, hence the lower bound.
func modTime(rev string) time.Time {
	stamp, rest, ok := strings.Cut(rev, "-")
	counter, random, ok2 := strings.Cut(rest, "-")
	if ok && ok2 && random != "" && isBase36(stamp) && isBase36(counter) {
		ms, err := strconv.ParseInt(stamp, 36, 64)
		if err == nil && ms >= firstPhone && ms < lastTime {
			return time.UnixMilli(ms)
		}
	}
	return revision.Time(vfs.Revision(rev))
}

const (
	firstPhone = 946_684_800_000     // the year 2000 in Unix milliseconds
	lastTime   = 253_402_300_800_000 // the year 10000
)

func isBase36(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}
