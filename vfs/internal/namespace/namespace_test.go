package namespace_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/internal/namespace"
)

func TestCheck(t *testing.T) {
	for name, want := range map[string]bool{
		"default": true, "conversation 1/ü": true, strings.Repeat("x", 255): true,
		"": false, " \t": false, strings.Repeat("x", 256): false, "\xff": false, "a\nb": false, "a\x00b": false, "\u0085": false,
	} {
		if err := namespace.Check(name); (err == nil) != want || err != nil && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
