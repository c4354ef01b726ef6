package sqlitefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// TestMemoryIsOneDatabase reads from many goroutines what one wrote; a second
// store has a database of its own.
func TestMemoryIsOneDatabase(t *testing.T) {
	a, b := open(t, sqlitefs.Memory, nil), open(t, sqlitefs.Memory, nil)
	if _, err := a.Write(t.Context(), "/a", "seen by all", ""); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if f, err := a.Read(t.Context(), "/a"); err != nil || f.Content != "seen by all" {
				t.Errorf("%q, %v", f.Content, err)
			}
		})
	}
	wg.Wait()
	if _, err := b.Read(t.Context(), "/a"); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("the other store: %v", err)
	}
	several := pool(t, sqlitefs.Memory)
	s, err := sqlitefs.New(several, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), "/", vfs.ListOptions{}); err == nil || !strings.Contains(err.Error(), "SetMaxOpenConns(1)") {
		t.Errorf("a pool of several databases in memory: %v", err)
	}
}

// TestCopyOfTheMainFile copies a database as people do. Alone, the main file has
// all that is older than a second, never nothing; with the log, and after
// closing, everything; Backup is right at any time.
func TestCopyOfTheMainFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.db")
	s := open(t, file, nil)
	want := map[string]string{}
	for i := range 100 {
		path := fmt.Sprint("/", i)
		want[path] = "content of " + path
		if _, err := s.Write(t.Context(), path, want[path], ""); err != nil {
			t.Fatal(err)
		}
	}
	withLog, backup, alone, closed := filepath.Join(dir, "log.db"), filepath.Join(dir, "backup.db"), filepath.Join(dir, "alone.db"), filepath.Join(dir, "closed.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), backup); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup over a file: %v", err)
	}
	copyFiles(t, file, withLog, "", "-wal")
	deadline := time.Now().Add(patience)
	for got := (map[string]string{}); !cmp.Equal(want, got); { // soon
		if time.Now().After(deadline) {
			t.Fatalf("the main file alone has %d files", len(got))
		}
		os.Remove(alone)
		copyFiles(t, file, alone, "")
		got = contentsOrNone(t, alone) // a copy made during a checkpoint may be torn
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, file, closed, "")
	for _, copied := range []string{withLog, backup, closed} {
		if diff := cmp.Diff(want, contents(t, open(t, copied, nil))); diff != "" {
			t.Errorf("%s: %s", copied, diff)
		}
	}
}

// contentsOrNone returns the files of a copy, or none of one that cannot be read.
func contentsOrNone(t *testing.T, file string) map[string]string {
	t.Helper()
	files := map[string]string{}
	s, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{ReadOnly: true})
	if err != nil {
		return files
	}
	defer s.Close()
	for info, err := range walk.Files(t.Context(), s, "/") {
		if err != nil {
			return nil
		}
		f, err := s.Read(t.Context(), info.Path)
		if err != nil {
			return nil
		}
		files[info.Path] = f.Content
	}
	return files
}

// TestBackupBesideALog refuses a name with a log that SQLite would take for the
// backup's own.
func TestBackupBesideALog(t *testing.T) {
	for _, suffix := range []string{"-wal", "-journal"} {
		file := filepath.Join(t.TempDir(), "old.db")
		if err := os.WriteFile(file+suffix, []byte("of a database that is gone"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := open(t, device(t), nil).Backup(t.Context(), file)
		if err == nil || !strings.Contains(err.Error(), "old.db"+suffix+" of an older database is there") {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the backup was made: %v", err)
		}
	}
}

// TestFreshName: the goliathfs command leaves names of this form out of folders.
func TestFreshName(t *testing.T) {
	name := sqlitefs.FreshName(filepath.Join("dir", "x.db"))
	form := regexp.MustCompile(`^\.goliathfs-[0-9]+-[0-9]+\.tmp$`)
	if filepath.Dir(name) != "dir" || !form.MatchString(filepath.Base(name)) {
		t.Errorf("got %s", name)
	}
}

func TestCompact(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, fast())
	rev := vfs.Revision("")
	for i := range 20 {
		info, err := s.Write(t.Context(), fmt.Sprint("/big", i), strings.Repeat("x", 1<<18), "")
		if err != nil {
			t.Fatal(err)
		}
		rev = info.Revision
	}
	for i := range 19 {
		info, err := s.Stat(t.Context(), fmt.Sprint("/big", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Remove(t.Context(), info.Path, info.Revision); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			size += info.Size()
		}
	}
	if size > 1<<19 {
		t.Errorf("%d bytes on the disk for one file of %d", size, 1<<18)
	}
	if info, err := s.Stat(t.Context(), "/big19"); err != nil || info.Revision != rev {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestOddFileNames(t *testing.T) {
	for _, name := range []string{"a?b.db", "a#b.db", "a%41b.db", "a&mode=ro.db", "sp ace+.db", "ünï😀.db", "file:x.db", "'quote\".db"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, name)
			s := open(t, file, nil)
			if _, err := s.Write(t.Context(), "/a", "x", ""); err != nil {
				t.Fatal(err)
			}
			if err := s.Backup(t.Context(), file+".backup"); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := open(t, file, &sqlitefs.Options{ReadOnly: true}); len(paths(t, got, "/", 1)) != 1 {
				t.Error("the file was not found again")
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 2 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// TestRefusedFiles opens what is no database; nothing changes.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	device, err := os.ReadFile(filepath.Join("testdata", "agent-files.db"))
	if err != nil {
		t.Fatal(err)
	}
	noTable := filepath.Join(dir, "other.db")
	pool(t, noTable, `CREATE TABLE other(x)`).Close()
	files := map[string]string{
		put("empty.db", ""): "no byte",
		put("text.db", "just a text that is long enough"):                    "not a SQLite database",
		put("short.db", "SQLite"):                                            "not a SQLite database",
		put("head.db", string(device[:100])):                                 "cut off",
		put("garbage.db", string(device[:100])+strings.Repeat("\xa5", 8092)): "damaged",
		filepath.Join(dir, "missing.db"):                                     "no such file",
		filepath.Join(dir, "missing", "x.db"):                                "folder",
		dir:                                                                  "it is a folder",
		noTable:                                                              "no table goliath_files_v1",
	}
	before := folder(t, dir)
	for file, want := range files {
		opts := &sqlitefs.Options{MustExist: true, ReadOnly: file == noTable}
		if strings.Contains(want, "folder") {
			opts = nil
		}
		s, err := sqlitefs.Open(t.Context(), file, opts)
		var pe *fs.PathError
		if err == nil || !errors.As(err, &pe) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", file, err, want)
		}
		if err == nil {
			s.Close()
		}
	}
	if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestFlippedBits damages a database at many places. Every operation ends in a
// sentence or in a sound file, and Check finds what was lost.
func TestFlippedBits(t *testing.T) {
	want := deviceFiles(t)["default"]
	data, err := os.ReadFile(filepath.Join("testdata", "agent-files.db"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.db")
	for at := 20; at < len(data); at += 1009 {
		damaged := append([]byte(nil), data...)
		for i := at; i < min(at+8, len(data)); i++ {
			damaged[i] ^= 0xA5
		}
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{ReadOnly: true})
		if err != nil {
			continue
		}
		problems, checkErr := s.Check(t.Context(), nil)
		if checkErr != nil && vfs.Code(checkErr) != "store" {
			t.Errorf("byte %d: check: %v", at, checkErr)
		}
		listed, listErr := 0, error(nil)
		for _, err := range walk.Files(t.Context(), s, "/") {
			if listed++; err != nil {
				listErr = err
			}
		}
		if listed < len(want) && listErr == nil && checkErr == nil && len(problems) == 0 {
			t.Errorf("byte %d: %d of %d files are left, and no one is told", at, listed, len(want))
		}
		for path := range want {
			if _, err := s.Read(t.Context(), path); strings.Contains(fmt.Sprint(err), "sqlite3:") {
				t.Errorf("byte %d: a raw error of the driver: %v", at, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("byte %d: close: %v", at, err)
		}
	}
}

// TestFullDisk limits the database instead of the disk; SQLite says the same.
func TestFullDisk(t *testing.T) {
	db := pool(t, filepath.Join(t.TempDir(), "x.db"), `PRAGMA max_page_count = 20`)
	db.SetMaxOpenConns(1)
	s := over(t, db, "default")
	info, err := s.Write(t.Context(), "/a", "before", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(t.Context(), "/a", strings.Repeat("x", 1<<20), info.Revision)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full, make room") {
		t.Errorf("got %v", err)
	}
	if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "before" || f.Revision != info.Revision {
		t.Errorf("after it: %+v, %v", f, err)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, opts := range []*sqlitefs.Options{{Namespace: " "}, {Namespace: "\xff"}, {Namespace: "a\x00"}, {BusyTimeout: -1}, {PollInterval: -1}} {
		if _, err := sqlitefs.Open(t.Context(), sqlitefs.Memory, opts); vfs.Code(err) != "invalid-argument" {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	s := open(t, sqlitefs.Memory, nil)
	if _, err := s.Namespace(""); vfs.Code(err) != "invalid-argument" {
		t.Errorf("a blank namespace: %v", err)
	}
	if _, err := sqlitefs.New(nil, nil); err == nil {
		t.Error("a nil database was taken")
	}
}

// TestRights opens files and folders that this user may not use.
func TestRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the rights of a file do not stop root")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.db")
	copyFiles(t, device(t), file, "")
	chmod := func(name string, mode os.FileMode) {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer chmod(dir, 0o700)
	refuse := func(name, want string) {
		t.Helper()
		s, err := sqlitefs.Open(t.Context(), name, nil)
		if err == nil {
			_, err = s.Write(t.Context(), "/w", "", "")
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sqlite3:") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	chmod(file, 0o400)
	refuse(file, "look at its rights and those of its folder, or open it read-only")
	chmod(file, 0)
	refuse(file, "look at its rights and those of its folder: permission denied")
	chmod(file, 0o600)
	chmod(dir, 0o500)
	refuse(file, "the database file or its folder cannot be written")
	refuse(filepath.Join(dir, "new.db"), "no file can be made in its folder, look at the rights of that")
}
