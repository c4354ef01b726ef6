package sqlitefs_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// deviceFiles is what a phone wrote into testdata/agent-files.db.
func deviceFiles(t *testing.T) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "files.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]string
	if err := json.Unmarshal(data, &files); err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]string{"default": files, "notes": {
		"/100%/my_repo.md": "percent and underscore\n",
		"/100x/myXrepo.md": "not the same\n",
		"/today.md":        "Water the basil on Tuesday.\n",
	}}
}

// device copies the phone's database to a place of its own.
func device(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "agent-files.db"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent-files.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func contents(t *testing.T, b vfs.Backend) map[string]string {
	t.Helper()
	files := map[string]string{}
	last := ""
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if vpath.Compare(info.Path, last) <= 0 {
			t.Errorf("%q is listed after %q", info.Path, last)
		}
		last = info.Path
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size != int64(len(f.Content)) || f.Info != info {
			t.Errorf("%q is listed as %+v and read as %+v", info.Path, info, f.Info)
		}
		files[info.Path] = f.Content
	}
	return files
}

func TestDeviceDatabase(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		t.Run(map[bool]string{false: "writable", true: "read-only"}[readOnly], func(t *testing.T) {
			s := open(t, device(t), &sqlitefs.Options{ReadOnly: readOnly})
			names, err := s.Namespaces(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := deviceFiles(t)
			if diff := cmp.Diff([]string{"default", "notes"}, names); diff != "" {
				t.Error(diff)
			}
			for name, files := range want {
				view, err := s.Namespace(name)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(files, contents(t, view)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			problems, err := s.Check(t.Context(), nil)
			if err != nil || len(problems) != 0 {
				t.Errorf("check: %v, %v", problems, err)
			}
		})
	}
}

func TestDeviceRevisionsDateFiles(t *testing.T) {
	s := open(t, device(t), nil)
	info, err := s.Stat(t.Context(), "/.hidden/b1")
	if err != nil {
		t.Fatal(err)
	}
	if info.Revision != "mx25hri7-u-q2p7qex6" || !info.ModTime.Equal(time.UnixMilli(1795975586431)) {
		t.Errorf("got %+v", info)
	}
}

// TestWritesLeaveTheRestAlone writes beside the phone's own tables.
func TestWritesLeaveTheRestAlone(t *testing.T) {
	file := device(t)
	before := outline(t, file)
	s := open(t, file, nil)
	info, err := s.Stat(t.Context(), "/bom.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), "/bom.md", "replaced", info.Revision); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), "/new.md", "new", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "/empty", "mx25hrih-11-tysfrlts"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, outline(t, file)); diff != "" {
		t.Error(diff)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(file + suffix); err == nil {
			t.Errorf("%s was left behind", suffix)
		}
	}
}

// outline returns what must not change: schema, settings and other tables.
func outline(t *testing.T, file string) string {
	t.Helper()
	db := pool(t, file)
	defer db.Close()
	var out strings.Builder
	for _, query := range []string{
		`SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1`,
		`SELECT id || memory FROM conversations ORDER BY 1`,
		`SELECT 'user_version ' || user_version FROM pragma_user_version`,
		`SELECT 'journal_mode ' || journal_mode FROM pragma_journal_mode`,
		`SELECT 'encoding ' || encoding FROM pragma_encoding`,
	} {
		for _, line := range column(t, db, query) {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// column returns the first column of a query.
func column(t *testing.T, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestUTF16 opens databases in the encodings of other phones.
func TestUTF16(t *testing.T) {
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			pool(t, file, `PRAGMA encoding = '`+encoding+`'`, `CREATE TABLE other(x)`).Close()
			s := open(t, file, nil)
			want := map[string]string{"/a-b/y": "", "/a.txt": "\ufeffgrün 😀\r\n", "/a/x": strings.Repeat("x", 1<<20), "/\U0001F600": "1", "/\uE000": "2"}
			for path, content := range want {
				if _, err := s.Write(t.Context(), path, content, ""); err != nil {
					t.Fatal(err)
				}
			}
			page, err := s.List(t.Context(), "/", vfs.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			var order []string
			for _, info := range page.Files {
				if info.Size != -1 {
					t.Errorf("%q is listed with %d bytes", info.Path, info.Size)
				}
				f, err := s.Read(t.Context(), info.Path)
				if err != nil {
					t.Fatal(err)
				}
				if f.Size != int64(len(f.Content)) {
					t.Errorf("%q is read with size %d", info.Path, f.Size)
				}
				got[info.Path] = f.Content
				order = append(order, info.Path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"/a-b/y", "/a.txt", "/a/x", "/\U0001F600", "/\uE000"}, order); diff != "" {
				t.Error(diff)
			}
		})
	}
}
