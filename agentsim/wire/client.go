package wire

import (
	"slices"
	"strings"
)

// maxClients and maxClient bound what is kept of the names of clients: how many,
// and how many bytes of each.
const (
	maxClients = 16
	maxClient  = 120
)

// clients are the programs that asked, by name and version. They are not safe for
// concurrent use.
type clients struct{ seen []string }

func (c *clients) add(userAgent string) {
	name := clientOf(userAgent)
	if name != "" && len(c.seen) < maxClients && !slices.Contains(c.seen, name) {
		c.seen = append(c.seen, name)
	}
}

func (c *clients) list() []string { return slices.Sorted(slices.Values(c.seen)) }

// clientOf is what a User-Agent says of the program and its libraries. What it says
// of the machine is left out: comments in parentheses, and the runtime.
func clientOf(userAgent string) string {
	about, _, _ := strings.Cut(userAgent, "(")
	var kept []string
	for _, word := range strings.Fields(about) {
		if !strings.HasPrefix(word, "runtime/") {
			kept = append(kept, word)
		}
	}
	name := strings.Join(kept, " ")
	return strings.ToValidUTF8(name[:min(len(name), maxClient)], "")
}
