package textfile_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/textfile"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ content, want string }{
		{"", ""}, {"\x00\r\n\ufeff", ""}, {strings.Repeat("x", 1<<20), ""},
		{strings.Repeat("x", 1<<20+1), "the content is too large: 1048577 bytes where at most 1048576 fit, split it into several files"},
		{"a\xed\xa0\x80", "the content is not valid UTF-8: only text can be stored, encode it first"},
	} {
		err := textfile.Check(tt.content)
		if got := errorText(err); got != tt.want {
			t.Errorf("Check(%.20q…) = %q, want %q", tt.content, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
