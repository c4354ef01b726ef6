package sqlitefs_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// insert puts a row into the table as another program would.
func insert(t *testing.T, db *sql.DB, path, key, content, rev any) {
	t.Helper()
	run(t, db, `INSERT INTO goliath_files_v1 VALUES('default', ?, ?, ?, ?)`, path, key, content, rev)
}

// broken returns a database with one sound file between rows of every fault.
func broken(t *testing.T) (file string, db *sql.DB) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, nil)
	for _, path := range []string{"/a", "/m", "/z"} {
		if _, err := s.Write(t.Context(), path, "sound", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db = pool(t, file)
	for i, path := range []string{"/A//B", "//x", "/A/", "/", "/b/../c", "/tab\there", "relative", "/back\\slash", "/long" + strings.Repeat("x", 512)} {
		insert(t, db, path, hexKey(path), "of a bad path", fmt.Sprint("r", i))
	}
	insert(t, db, "/wrong-key", hexKey("/other-key"), "x", "w1")
	insert(t, db, "/upper-key~", strings.ToUpper(hexKey("/upper-key~")), "x", "w2")
	insert(t, db, []byte("/blob-path"), hexKey("/blob-path"), "x", "w3")
	insert(t, db, "/no-revision", hexKey("/no-revision"), "x", "")
	insert(t, db, "/blob-revision", hexKey("/blob-revision"), "x", []byte("w4"))
	insert(t, db, "/blob", hexKey("/blob"), []byte("a blob"), "c1")
	insert(t, db, "/not-utf8", hexKey("/not-utf8"), "bad \xff", "c2")
	insert(t, db, "/too-large", hexKey("/too-large"), strings.Repeat("x", 1<<20+1), "c3")
	insert(t, db, "/far-too-large", hexKey("/far-too-large"), strings.Repeat("x", 9<<20), "c4")
	insert(t, db, "/same-1", hexKey("/same-1"), "x", "same")
	insert(t, db, "/same-2", hexKey("/same-2"), "x", "same")
	run(t, db, `INSERT INTO goliath_files_v1 VALUES(' ', '/x', ?, 'x', 'n1')`, hexKey("/x"))
	return file, db
}

func paths(t *testing.T, b vfs.Backend, dir string, limit int) []string {
	t.Helper()
	var got []string
	for opts := (vfs.ListOptions{Limit: limit}); ; {
		page, err := b.List(t.Context(), dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Files {
			got = append(got, info.Path)
		}
		if page.Next == "" {
			return got
		}
		opts.After = page.Next
	}
}

// TestBrokenRows lists and reads around rows that break the rules.
func TestBrokenRows(t *testing.T) {
	file, _ := broken(t)
	s := open(t, file, nil)
	want := []string{"/a", "/blob", "/far-too-large", "/m", "/not-utf8", "/same-1", "/same-2", "/too-large", "/z"}
	for _, limit := range []int{1, 2, 64} {
		if diff := cmp.Diff(want, paths(t, s, "/", limit)); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
	asked := append(want, "/wrong-key", "/upper-key~", "/blob-path", "/no-revision", "/blob-revision", "/tab\there", "/back\\slash", "/missing")
	results, err := s.ReadBatch(t.Context(), asked)
	if err != nil || len(results) != len(asked) {
		t.Fatalf("a batch of %d has %d results, %v", len(asked), len(results), err)
	}
	for i, path := range asked {
		f, err := s.Read(t.Context(), path)
		if diff := cmp.Diff(f, results[i].File); diff != "" || fmt.Sprint(results[i].Err) != fmt.Sprint(err) {
			t.Errorf("%s in a batch: %v, read: %v %s", path, results[i].Err, err, diff)
		}
	}
	for _, path := range []string{"/a", "/m", "/z"} {
		if f, err := s.Read(t.Context(), path); err != nil || f.Content != "sound" {
			t.Errorf("%s: %q, %v", path, f.Content, err)
		}
	}
	for path, want := range map[string]error{"/blob": vfs.ErrNotText, "/not-utf8": vfs.ErrNotText, "/too-large": vfs.ErrTooLarge,
		"/far-too-large": vfs.ErrTooLarge, "/blob-path": vfs.ErrNotFound, "/A//B": vfs.ErrInvalidPath} {
		if _, err := s.Read(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
	}
	for path, want := range map[string]string{"/wrong-key": "order key", "/no-revision": "revision", "/blob-revision": "revision"} {
		_, err := s.Read(t.Context(), path)
		_, statErr := s.Stat(t.Context(), path)
		for _, err := range []error{err, statErr} {
			if vfs.Code(err) != "store" || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: error %v, want a store error that names the %s", path, err, want)
			}
		}
		if got := paths(t, s, path, 1); len(got) != 0 {
			t.Errorf("%s is listed as %q", path, got)
		}
	}
	info, err := s.Stat(t.Context(), "/too-large")
	if err != nil || info.Size != 1<<20+1 {
		t.Errorf("stat: %+v, %v", info, err)
	}
	if _, err := s.Write(t.Context(), "/not-utf8", "mended", "c2"); err != nil {
		t.Error(err)
	}
	if names, err := s.Namespaces(t.Context()); err != nil || !cmp.Equal(names, []string{"default"}) {
		t.Errorf("namespaces: %q, %v", names, err)
	}
}

// TestCheck finds each fault, says what it would do, and does it when asked.
func TestCheck(t *testing.T) {
	file, db := broken(t)
	s := open(t, file, nil)
	before := dump(t, db)
	problems, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, p := range problems {
		if p.Detail == "" || p.Repaired {
			t.Errorf("%+v", p)
		}
		found[p.Path] += string(p.Rule) + " "
	}
	want := map[string]string{"/A//B": "path path-key ", "//x": "path path-key ", "/A/": "path path-key ", "/": "path ", "/b/../c": "path ",
		"/tab\there": "path ", "relative": "path ", "/back\\slash": "path ", "/long" + strings.Repeat("x", 512): "path ",
		"/wrong-key": "path-key ", "/upper-key~": "path-key ", "/blob-path": "path ", "/no-revision": "revision ", "/blob-revision": "revision ",
		"/blob": "text ", "/not-utf8": "text ", "/too-large": "size ", "/far-too-large": "size ", "/same-2": "revision ", "/x": "namespace "}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, dump(t, db)); diff != "" {
		t.Errorf("a check without repair changed something: %s", diff)
	}

	if _, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: true}); vfs.Code(err) != "invalid-argument" {
		t.Errorf("a repair that keeps nothing aside: %v", err)
	}
	var aside bytes.Buffer
	if _, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: true, Quarantine: &aside}); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"of a bad path", `"/wrong-key"`, `"/tab\there"`, `{"base64":"YSBibG9i"}`} {
		if !strings.Contains(aside.String(), kept) {
			t.Errorf("aside lacks %s", kept)
		}
	}
	left, err := s.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range left {
		if p.Rule != sqlitefs.RuleSize && p.Rule != sqlitefs.RuleNamespace {
			t.Errorf("after the repair: %+v", p)
		}
	}
	want2 := []string{"/A", "/A/B", "/a", "/blob", "/blob-path", "/blob-revision", "/far-too-large", "/m", "/no-revision", "/not-utf8",
		"/same-1", "/same-2", "/too-large", "/upper-key~", "/wrong-key", "/x", "/z"}
	if diff := cmp.Diff(want2, paths(t, s, "/", 64)); diff != "" {
		t.Error(diff)
	}
	if f, err := s.Read(t.Context(), "/not-utf8"); err != nil || f.Content != "bad \uFFFD" || f.Revision == "c2" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestRepairWhenTheNameIsTaken keeps the file that has the name already.
func TestRepairWhenTheNameIsTaken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, nil)
	if _, err := s.Write(t.Context(), "/a/b", "has the name", ""); err != nil {
		t.Fatal(err)
	}
	insert(t, pool(t, file), "/a//b", hexKey("/a//b"), "wants the name", "r1")
	var aside bytes.Buffer
	problems, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: true, Quarantine: &aside})
	if err != nil || len(problems) == 0 || !problems[0].Repaired {
		t.Fatalf("%+v, %v", problems, err)
	}
	if diff := cmp.Diff(map[string]string{"/a/b": "has the name"}, contents(t, s)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(aside.String(), "wants the name") {
		t.Errorf("aside is %q", &aside)
	}
}

// dump returns every row as text.
func dump(t *testing.T, db *sql.DB) []string {
	t.Helper()
	return column(t, db, `SELECT hex(namespace) || hex(path) || path_key || hex(revision) || hex(substr(content, 1, 50)) FROM goliath_files_v1 ORDER BY rowid`)
}

func TestModTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, nil)
	db := pool(t, file)
	now := time.UnixMilli(1795975586431)
	for rev, want := range map[string]time.Time{
		"mx25hri7-u-q2p7qex6": now,
		"mx25hri7-zz-0":       now, // as long as a revision of this module
		"1":                   {},
		"mx25hri7":            {},
		"mx25hri7-u":          {},
		"mx25hri7-u-":         {},
		"MX25HRI7-u-xy":       {},
		"1-1-x":               {}, // 1970: no phone
		"zzzzzzzzzzzzzz-1-x":  {},
		"etag \"abc\"":        {},
	} {
		path := "/" + strings.NewReplacer(`"`, "", " ", "").Replace(rev)
		insert(t, db, path, hexKey(path), "", rev)
		info, err := s.Stat(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, info.ModTime, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Errorf("%q: %s", rev, diff)
		}
	}
	before := time.Now().Truncate(time.Millisecond)
	info, err := s.Write(t.Context(), "/mine", "", "")
	if err != nil || info.ModTime.Before(before) || info.ModTime.After(time.Now()) {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestCheckMendsTheIndex finds rows that an index lost, and an index on other
// columns.
func TestCheckMendsTheIndex(t *testing.T) {
	for name, damage := range map[string][]string{
		"rows are missing": {
			`DROP INDEX goliath_files_order_v1`,
			`CREATE INDEX goliath_files_order_v1 ON goliath_files_v1(namespace, path_key) WHERE path_key < ''`,
			`PRAGMA writable_schema = ON`,
			`UPDATE sqlite_master SET sql = replace(sql, ' WHERE path_key < ''''', '') WHERE name = 'goliath_files_order_v1'`,
		},
		"other columns": {
			`DROP INDEX goliath_files_order_v1`,
			`CREATE INDEX goliath_files_order_v1 ON goliath_files_v1(path)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := device(t)
			db := pool(t, file)
			db.SetMaxOpenConns(1)
			for _, query := range damage {
				run(t, db, query)
			}
			db.Close()
			s := open(t, file, nil)
			problems, err := s.Check(t.Context(), nil)
			if err != nil || len(problems) == 0 {
				t.Fatalf("%v, %v", problems, err)
			}
			var aside bytes.Buffer
			problems, err = s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: true, Quarantine: &aside})
			if err != nil || !problems[0].Repaired {
				t.Fatalf("%+v, %v", problems, err)
			}
			if left, err := s.Check(t.Context(), nil); err != nil || len(left) != 0 {
				t.Errorf("after the repair: %v, %v", left, err)
			}
			if diff := cmp.Diff(deviceFiles(t)["default"], contents(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWithoutRowID checks and repairs a table whose rows have no number, as another
// program may make it.
func TestWithoutRowID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := pool(t, file, `CREATE TABLE goliath_files_v1 (
		namespace TEXT NOT NULL, path TEXT NOT NULL, path_key TEXT NOT NULL, content TEXT NOT NULL, revision TEXT NOT NULL,
		PRIMARY KEY(namespace, path)) WITHOUT ROWID`)
	s := open(t, file, nil)
	for i := range 150 { // several batches
		if _, err := s.Write(t.Context(), fmt.Sprint("/", i), "x", ""); err != nil {
			t.Fatal(err)
		}
	}
	if problems, err := s.Check(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("a sound table: %v, %v", problems, err)
	}
	run(t, db, `UPDATE goliath_files_v1 SET path_key = '00' WHERE path IN ('/7', '/149')`)
	run(t, db, `UPDATE goliath_files_v1 SET revision = (SELECT revision FROM goliath_files_v1 WHERE path = '/8') WHERE path = '/9'`)
	for _, repair := range []bool{false, true} {
		problems, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: repair, Quarantine: io.Discard})
		if err != nil || len(problems) != 3 {
			t.Errorf("repair %t: %v, %v", repair, problems, err)
		}
		for _, p := range problems {
			if p.Repaired != repair {
				t.Errorf("repair %t: %+v", repair, p)
			}
		}
	}
	if problems, err := s.Check(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("after the repair: %v, %v", problems, err)
	}
}
