// Package tablerow says what a row of the phone library's table must be: the key that orders
// it, and which rules a row breaks that some other program wrote. It knows no database.
package tablerow

import "unicode/utf8"

// MaxContent is the greatest content of a built-in backend, in bytes.
const MaxContent = 1 << 20

const hexDigits = "0123456789abcdef"

// KeyOf returns the path_key of s: each UTF-16 code unit as four lower-case hex
// digits, so that the database's byte order is vpath.Compare's order. After the
// last unit of a directory's key "002f" leads its children, and "0030" is the
// least key that follows them all.
func KeyOf(s string) string {
	key := make([]byte, 0, 4*len(s))
	for _, r := range s {
		if r > 0xFFFF {
			r -= 0x10000
			key = appendUnit(key, 0xD800+uint16(r>>10))
			r = 0xDC00 + r&0x3FF
		}
		key = appendUnit(key, uint16(r))
	}
	return string(key)
}

func appendUnit(key []byte, u uint16) []byte {
	return append(key, hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// IsKeyOf reports KeyOf(path) == key without making it.
func IsKeyOf(key, path string) bool {
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c >= utf8.RuneSelf {
			return key == KeyOf(path[i:])
		}
		if len(key) < 4 || key[0] != '0' || key[1] != '0' || key[2] != hexDigits[c>>4] || key[3] != hexDigits[c&15] {
			return false
		}
		key = key[4:]
	}
	return key == ""
}
