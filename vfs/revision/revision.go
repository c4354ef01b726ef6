// Package revision makes the revisions that the built-in backends write.
//
// A revision is exactly 12 ASCII characters, so that budgeted pages break alike
// on every backend: 7 characters of URL-safe base64 hold the Unix time in
// milliseconds, 5 are random. The time doubles as the modification time.
package revision

import (
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Len is the length of every revision made here, in bytes.
const Len = 12

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	timeLen  = 7
)

// Func makes the revision of a write that replaces old, which is "" for a new
// file, at the given time. The result must differ from old and from every
// revision made before. A Func must be safe for concurrent use.
type Func func(now time.Time, old vfs.Revision) vfs.Revision

// New is the Func used where none is injected. Two results of one millisecond
// are equal with a chance of one in 2^30.
func New(now time.Time, old vfs.Revision) vfs.Revision {
	for {
		var b [Len]byte
		put(b[:timeLen], uint64(max(0, now.UnixMilli())))
		put(b[timeLen:], uint64(rand.Uint32()))
		if r := vfs.Revision(b[:]); r != old {
			return r
		}
	}
}

// put writes the low 6·len(dst) bits of v, most significant first.
func put(dst []byte, v uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = alphabet[v&63]
		v >>= 6
	}
}

// OfSeed returns the revision of a file that no one wrote, such as a static
// document: a hash of path and content, the same in every process.
func OfSeed(path, content string) vfs.Revision {
	h := sha256.New()
	h.Write([]byte(path))
	h.Write([]byte{0}) // no path holds it, so path and content cannot run together
	h.Write([]byte(content))
	sum := h.Sum(nil)
	return vfs.Revision(base64.RawURLEncoding.EncodeToString(sum[:Len*6/8]))
}

// Time returns when New made r, to the millisecond. It is the zero time for a
// string that is not of New's form. A seed revision has that form too and gives
// a meaningless time, so ask only for files that were written.
func Time(r vfs.Revision) time.Time {
	if len(r) != Len {
		return time.Time{}
	}
	var ms int64
	for i := range timeLen {
		d := digit(r[i])
		if d < 0 {
			return time.Time{}
		}
		ms = ms<<6 | int64(d)
	}
	return time.UnixMilli(ms)
}

func digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '-':
		return 62
	case c == '_':
		return 63
	}
	return -1
}
