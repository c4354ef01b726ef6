package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/internal/jsontext"
)

func TestHalfPair(t *testing.T) {
	for _, tt := range []struct {
		text string
		at   int
		half rune
	}{
		{``, -1, 0},
		{`"plain"`, -1, 0},
		{`"\ud83d\ude00"`, -1, 0},
		{`"\uD83D\uDE00"`, -1, 0},
		{`"\\ud83d"`, -1, 0},
		{`"\n\\\"\u0041"`, -1, 0},
		{`"\ud83d"`, 1, 0xD83D},
		{`"\ude00"`, 1, 0xDE00},
		{`"\ude00\ud83d"`, 1, 0xDE00},
		{`"\ud83d\u0041"`, 1, 0xD83D},
		{`"\ud83d\\ude00"`, 1, 0xD83D},
		{`"\ud83dx\ude00"`, 1, 0xD83D},
		{`"\ud83d\ud83d\ude00"`, 1, 0xD83D},
		{`"\ud83d\ude00\ude00"`, 13, 0xDE00},
		{`{"a\\":"\\\ud83d"}`, 10, 0xD83D},
		{`\`, -1, 0},
		{`\u`, -1, 0},
		{`\ud83`, -1, 0},
		{`\ud83d`, 0, 0xD83D},
		{`\ud83d\`, 0, 0xD83D},
		{`\ud83d\ude0`, 0, 0xD83D},
	} {
		if at, half := jsontext.HalfPair([]byte(tt.text)); at != tt.at || half != tt.half {
			t.Errorf("HalfPair(%s) = %d, %#x, want %d, %#x", tt.text, at, half, tt.at, tt.half)
		}
	}
}

// FuzzHalfPair compares with what the decoder makes of a string: a half becomes
// U+FFFD, which is there otherwise only when it was written as such.
func FuzzHalfPair(f *testing.F) {
	for _, seed := range []string{`"\ud83d\ude00"`, `"\\ud83d"`, `"\ud83d\u0041"`, `"\ude00\\"`, `"\uDBFF\uDFFF"`, `"\u00e9"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, _ := jsontext.HalfPair([]byte(text)) // whatever it is, it must not panic
		var s string
		if !utf8.ValidString(text) || strings.Contains(text, "\ufffd") || strings.Contains(strings.ToLower(text), `\ufffd`) || json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		if replaced := strings.Contains(s, "\ufffd"); replaced != (at >= 0) {
			t.Errorf("HalfPair(%s) = %d, but it is read as %q", text, at, s)
		}
	})
}
