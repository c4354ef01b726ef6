package backupfile_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/vfs"
)

func records() []backupfile.Record {
	file := func(path, content string, at time.Time) vfs.File {
		return vfs.File{Info: vfs.Info{Path: path, Revision: "r" + vfs.Revision(path), Size: int64(len(content)), ModTime: at}, Content: content}
	}
	return []backupfile.Record{
		{Namespace: "default", File: file("/a", "one\r\n\u2028<b>\x00", time.UnixMilli(1783490400123).UTC())},
		{Namespace: "notes", File: file("/\U0001F600", "", time.Time{})},
		{Namespace: "", File: file("/big", strings.Repeat("\x01", 1<<10), time.Time{})},
	}
}

func backup(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := backupfile.NewWriter(&b, "badger:x", time.Date(2026, 7, 8, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records() {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readAll(r io.Reader) (all []backupfile.Record, err error) {
	for rec, err := range backupfile.Read(r) {
		if err != nil {
			return all, err
		}
		all = append(all, rec)
	}
	return all, nil
}

func TestRoundTrip(t *testing.T) {
	got, err := readAll(bytes.NewReader(backup(t)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records(), got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// A time that JSON does not have is left out of a backup, and stops none.
func TestYearBeyond9999(t *testing.T) {
	var b bytes.Buffer
	w, err := backupfile.NewWriter(&b, "badger:x", time.Now())
	if err == nil {
		err = w.Add(backupfile.Record{File: vfs.File{Info: vfs.Info{Path: "/a", Size: 1, ModTime: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, Content: "a"}})
	}
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(&b); err != nil || len(got) != 1 || got[0].File.Content != "a" || !got[0].File.ModTime.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
}

// TestLargest: the largest file that stores take, in its longest form.
func TestLargest(t *testing.T) {
	want := []backupfile.Record{{File: vfs.File{Info: vfs.Info{Path: "/a", Size: 1 << 20}, Content: strings.Repeat("\x01", 1<<20)}}}
	var b bytes.Buffer
	w, err := backupfile.NewWriter(&b, "mem:", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(want[0]), w.Finish()); err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(&b); err != nil || !cmp.Equal(want, got) {
		t.Errorf("it does not come back: %v", err)
	}
}

// TestDamage: a backup that lacks its end, wherever it was cut, or has one byte
// changed, is refused.
func TestDamage(t *testing.T) {
	whole := backup(t)
	step := len(whole)/200 + 1
	for n := 0; n < len(whole)-1; n += step {
		if _, err := readAll(bytes.NewReader(whole[:n])); !errors.Is(err, backupfile.ErrFormat) {
			t.Errorf("cut at byte %d: %v", n, err)
		}
		altered := bytes.Clone(whole)
		altered[n] ^= 1
		if _, err := readAll(bytes.NewReader(altered)); !errors.Is(err, backupfile.ErrFormat) {
			t.Errorf("altered at byte %d: %v", n, err)
		}
	}
	if _, err := readAll(bytes.NewReader(append(bytes.Clone(whole), "more\n"...))); !errors.Is(err, backupfile.ErrFormat) {
		t.Errorf("with a line behind its end: %v", err)
	}
}

// sealed puts the last line behind a header and a file.
func sealed(header, file string) string {
	sum := sha256.Sum256([]byte(header + file))
	return fmt.Sprintf(`%s%s{"files":1,"sha256":"%x"}`, header, file, sum)
}

// TestWholeLines: lines that are sound in themselves make no backup where one is missing,
// follows the last one, or is not of this form.
func TestWholeLines(t *testing.T) {
	whole := string(backup(t))
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	for name, text := range map[string]string{
		"without the last line":    strings.Join(lines[:len(lines)-1], ""),
		"a file behind the last":   whole + lines[1],
		"the last line twice":      whole + lines[len(lines)-1] + "\n",
		"another number of files":  strings.Replace(whole, `"files":3`, `"files":2`, 1),
		"a file left out":          strings.Replace(whole, lines[1], "", 1),
		"a file twice":             strings.Replace(whole, lines[1], lines[1]+lines[1], 1),
		"a later version":          sealed(strings.Replace(lines[0], `"version":1`, `"version":2`, 1), lines[1]),
		"a name that is not known": sealed(lines[0], strings.Replace(lines[1], `"path":"/a"`, `"mode":1,"path":"/a"`, 1)),
	} {
		if text == whole {
			t.Fatalf("%s: nothing differs", name)
		}
		if _, err := readAll(strings.NewReader(text)); !errors.Is(err, backupfile.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := readAll(strings.NewReader(sealed(lines[0], lines[1]))); err != nil || len(all) != 1 {
		t.Errorf("a backup of one file: %v, %v", all, err)
	}
	header := lines[0]
	if _, err := readAll(strings.NewReader(header)); err == nil || !strings.Contains(err.Error(), "its end is missing, it has 0 files") {
		t.Errorf("a header alone: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"goliathfs-backup","version":1}` + "\n" + `{"path":"/a","content":"x"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readAll(bytes.NewReader(data)); err != nil && !errors.Is(err, backupfile.ErrFormat) {
			t.Errorf("%q: %v", data, err)
		}
	})
}
