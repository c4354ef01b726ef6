package txtar_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	library "github.com/rogpeppe/go-internal/txtar"

	"github.com/goliathfs/goliathfs/internal/txtar"
)

func TestSplit(t *testing.T) {
	comment, got := txtar.Split("One.\n\n-- a --\nx\n-- --\n--  --\n-- b c --\r\n-- empty --\n-- last --\nno end")
	want := []txtar.Section{
		{Name: "a", Text: "x\n-- --\n--  --\n", Line: 4}, {Name: "b c", Line: 8}, {Name: "empty", Line: 9}, {Name: "last", Text: "no end\n", Line: 10},
	}
	if diff := cmp.Diff(want, got); diff != "" || comment != "One.\n\n" {
		t.Errorf("comment %q, sections (-want +got):\n%s", comment, diff)
	}
}

// Any text is split, as the common reader does it where that gets by.
func FuzzSplit(f *testing.F) {
	f.Add("c\n-- a --\nx\n-- b --\r\n")
	f.Add("-- --\n")
	f.Add("-- a")
	f.Fuzz(func(t *testing.T, data string) {
		comment, sections := txtar.Split(data)
		if strings.Contains(data, "-- --") || strings.Contains(data, "\r") { // it panics, or has its own mind
			return
		}
		want := library.Parse([]byte(data))
		if comment != string(want.Comment) || len(sections) != len(want.Files) {
			t.Fatalf("%q splits to %q and %d files, not %q and %d", data, comment, len(sections), want.Comment, len(want.Files))
		}
		for i, s := range sections {
			if s.Name != want.Files[i].Name || s.Text != string(want.Files[i].Data) {
				t.Fatalf("%q has the file %+v, not %q", data, s, want.Files[i])
			}
		}
	})
}
