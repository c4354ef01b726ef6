package leftout_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/leftout"
)

// An entry is one sentence, in which no path acts on a terminal.
func TestEntry(t *testing.T) {
	for path, want := range map[string]string{
		"/a b/é":      "/a b/é: permission denied",
		"/\x1b[2J":    `"/\x1b[2J": permission denied`,
		"/a\nb":       `"/a\nb": permission denied`,
		"/\xff":       `"/\xff": permission denied`,
		"/\u202egnp.": `"/\u202egnp.": permission denied`,
		"":            ": permission denied",
	} {
		e := leftout.Entry{Path: path, Err: fs.ErrPermission}
		if e.Error() != want || !errors.Is(e, fs.ErrPermission) {
			t.Errorf("%q is told as %q, want %q", path, e.Error(), want)
		}
	}
}
