package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// A year that RFC 3339 does not have, as a journal that someone made may hold, is written
// all the same.
func TestYearBeyond9999(t *testing.T) {
	program, err := exec.LookPath("goliathfs")
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(12026, 11, 30, 12, 0, 0, 0, time.UTC) }
	files, err := memfs.New(map[string]string{"/a.md": "a\n"}, &memfs.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "j")
	journal, err := journalfs.Open(name, &journalfs.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := journalfs.Wrap(t.Context(), files, journal)
	if err == nil {
		_, err = vfs.Write(t.Context(), kept, "/b.md", "b\n", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "b")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"log", "--json", name}, `"/b.md".*"time":"\+012026-11-30T12:00:00Z"`},
		{[]string{"log", name}, `^12026-11-30T12:00:00`},
		{[]string{"backup", "journal:" + name, backup}, `wrote 2 files`},
		{[]string{"ls", "--json", "backup:" + backup}, `"/b.md".*"size":2\}`}, // its time does not fit into a journal
	} {
		out, err := exec.CommandContext(t.Context(), program, tt.args...).CombinedOutput()
		if err != nil || !regexp.MustCompile(tt.want).Match(out) {
			t.Errorf("%v: %v, %s; want %s", tt.args, err, out, tt.want)
		}
	}
}

func TestJSONTime(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Date(2026, 11, 30, 12, 0, 5, 25e6, time.FixedZone("", 3600)): `"2026-11-30T11:00:05.025Z"`,
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC):                  `"9999-12-31T23:59:59Z"`,
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC):                      `"+010000-01-01T00:00:00Z"`,
		time.Date(-44, 3, 15, 0, 0, 0, 5, time.UTC):                       `"-000044-03-15T00:00:00.000000005Z"`,
	} {
		if got, err := json.Marshal(timeOf(at)); err != nil || string(got) != want {
			t.Errorf("%v: %s, %v; want %s", at, got, err, want)
		}
	}
	if got := timeOf(time.Time{}); got != nil {
		t.Errorf("the zero time is %v", *got)
	}
}
