package memory

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	suffix      = ".json"
	defaultName = "_default"
	longMark    = "~"
	maxName     = 160
)

// fileName is the name of a conversation's file. Lower-case letters, digits and
// "-" stand for themselves and every other byte is %XX, so that names differ
// also where upper and lower case or Unicode forms are folded, and none is
// special. A name that would be long is "~" and a hash of the id. "_" and "~"
// are in no other name.
func fileName(id string, isDefault bool) string {
	if isDefault {
		return defaultName + suffix
	}
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		if needsNoEscape(id[i]) {
			b.WriteByte(id[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", id[i])
		}
	}
	if b.Len() > maxName {
		return longMark + digest(id) + suffix
	}
	return b.String() + suffix
}

func needsNoEscape(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-'
}

// parseName returns the conversation of a file. The id is "" for a hashed name,
// which does not tell it; ok is false for a name that no conversation has.
func parseName(name string) (id string, isDefault, ok bool) {
	base, ok := strings.CutSuffix(name, suffix)
	switch {
	case !ok || base == "":
		return "", false, false
	case base == defaultName:
		return "", true, true
	case strings.HasPrefix(base, longMark):
		return "", false, len(base) == len(longMark)+len(digest(""))
	}
	var b strings.Builder
	for i := 0; i < len(base); i++ {
		switch {
		case needsNoEscape(base[i]):
			b.WriteByte(base[i])
		case base[i] == '%' && i+2 < len(base):
			c, err := strconv.ParseUint(base[i+1:i+3], 16, 8)
			if err != nil {
				return "", false, false
			}
			b.WriteByte(byte(c))
			i += 2
		default:
			return "", false, false
		}
	}
	id = b.String()
	return id, false, fileName(id, false) == name && CheckID(id) == nil
}
