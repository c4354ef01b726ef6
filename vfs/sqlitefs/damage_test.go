package sqlitefs_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// TestCutDatabase cuts a database at many lengths: it is refused, or reading it
// is, in a sentence; or, where only unused bytes are gone, all of it is there.
func TestCutDatabase(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "agent-files.db"))
	if err != nil {
		t.Fatal(err)
	}
	want := deviceFiles(t)["default"]
	lengths := []int{0, 1, 15, 16, 99, 100, 511, 512, len(whole) - 1, len(whole) - 4096}
	for at := 1000; at < len(whole); at += 3959 {
		lengths = append(lengths, at)
	}
	for _, readOnly := range []bool{false, true} {
		for _, length := range lengths {
			file := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(file, whole[:length], 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(t, file, &sqlitefs.Options{ReadOnly: readOnly})
			switch {
			case err == nil && !cmp.Equal(want, got):
				t.Errorf("cut to %d of %d bytes (read-only %v) it shows %d files: %s", length, len(whole), readOnly, len(got), cmp.Diff(want, got))
			case err != nil && (strings.Contains(err.Error(), "sqlite3:") || vfs.Code(err) != "store" && !errors.Is(err, vfs.ErrNotText)):
				t.Errorf("cut to %d bytes: %v", length, err)
			case err == nil && length <= len(whole)-4096:
				t.Errorf("cut to %d bytes it is whole", length)
			}
		}
	}
}

// readAll opens a database and reads every file.
func readAll(t *testing.T, file string, opts *sqlitefs.Options) (files map[string]string, err error) {
	t.Helper()
	s, err := sqlitefs.Open(t.Context(), file, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	files = map[string]string{}
	for info, err := range walk.Files(t.Context(), s, "/") {
		if err != nil {
			return nil, err
		}
		f, err := s.Read(t.Context(), info.Path)
		if err != nil {
			return nil, err
		}
		files[info.Path] = f.Content
	}
	return files, nil
}

// TestCutLog cuts the write-ahead log that a killed program left, and flips bits
// in it: what was committed before the damage is there, in order and sound.
func TestCutLog(t *testing.T) {
	dir := t.TempDir()
	file, killed := filepath.Join(dir, "x.db"), filepath.Join(dir, "killed.db")
	// What is in the database already, a log that is cut would take back in part: so a
	// reader keeps all from getting there, however long the writes take.
	reader, err := sql.Open("sqlite3", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reader.SetMaxOpenConns(1)
	for _, query := range []string{`PRAGMA journal_mode = WAL`, `BEGIN`, `SELECT count(*) FROM sqlite_schema`} {
		run(t, reader, query)
	}
	s := open(t, file, nil)
	const n = 40
	for i := range n {
		if _, err := s.Write(t.Context(), fmt.Sprintf("/%02d", i), strings.Repeat("x", 3000), ""); err != nil {
			t.Fatal(err)
		}
	}
	copyFiles(t, file, killed, "", "-wal")
	log, err := os.ReadFile(killed + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at <= len(log); at += len(log) / 25 {
		flipped := append([]byte(nil), log...)
		if at < len(log) {
			flipped[at] ^= 0xA5
		}
		for how, damaged := range map[string][]byte{"cut": log[:at], "flipped": flipped} {
			victim := filepath.Join(t.TempDir(), "x.db")
			copyFiles(t, killed, victim, "")
			if err := os.WriteFile(victim+"-wal", damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			left := open(t, victim, nil)
			names := paths(t, left, "/", 256)
			for i, name := range names {
				if name != fmt.Sprintf("/%02d", i) {
					t.Errorf("%s at %d: file %d is %s", how, at, i, name)
				}
			}
			if problems, err := left.Check(t.Context(), nil); err != nil || len(problems) > 0 {
				t.Errorf("%s at %d: %v, %v", how, at, problems, err)
			}
			if at >= len(log)-len(log)/25 && len(names) == 0 {
				t.Errorf("%s at %d of %d: nothing is left", how, at, len(log))
			}
		}
	}
}

// TestLogWithoutItsDatabase opens where only the log is left: that is no new
// database.
func TestLogWithoutItsDatabase(t *testing.T) {
	for _, suffix := range []string{"-wal", "-journal"} {
		file := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(file+suffix, []byte("left over"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := folder(t, filepath.Dir(file))
		_, err := sqlitefs.Open(t.Context(), file, nil)
		if err == nil || !strings.Contains(err.Error(), "x.db"+suffix+" of its database is there: put both back") {
			t.Errorf("%s alone: %v", suffix, err)
		}
		if after := folder(t, filepath.Dir(file)); len(after) != len(before) {
			t.Errorf("%s alone: the folder now holds %v", suffix, after)
		}
	}
}
