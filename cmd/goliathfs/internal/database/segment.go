package database

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Segment returns a namespace as the name of a directory. It is the namespace itself,
// but that what a segment of a path cannot hold, and "%", is written as "%" and two
// hexadecimal digits a byte; NamespaceOf goes back. No two namespaces share one.
func Segment(namespace string) string {
	switch namespace {
	case "":
		return "%" // which no other namespace gives
	case ".", "..":
		return strings.ReplaceAll(namespace, ".", "%2E")
	}
	var b strings.Builder
	for rest := namespace; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r < ' ' || r == 0x7f || strings.ContainsRune(`%/\`, r) || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", rest[0])
		} else {
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return b.String()
}

// NamespaceOf returns the namespace of which Segment has made a name, and false for a
// name that it does not make.
func NamespaceOf(segment string) (string, bool) {
	if segment == "%" {
		return "", true
	}
	name, err := url.PathUnescape(segment)
	return name, err == nil && segment != "" && Segment(name) == segment
}
