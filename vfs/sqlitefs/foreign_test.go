package sqlitefs_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// isSentence fails when err is not in the words of this package.
func isSentence(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sqlite3:") || strings.Contains(err.Error(), "sql:") {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestOtherTables opens databases where something else has the table's name.
func TestOtherTables(t *testing.T) {
	for name, c := range map[string]struct{ setup, want string }{
		"a view":         {`CREATE VIEW goliath_files_v1 AS SELECT 1 AS namespace, 2 AS path, 3 AS path_key, 4 AS content, 5 AS revision`, "is a view in this database, and only a table can hold files, so name another file"},
		"other columns":  {`CREATE TABLE goliath_files_v1(namespace, path, body)`, "is not as the phone library makes it (no such column: path_key), so name another file"},
		"another's name": {`CREATE TABLE other(x); CREATE INDEX goliath_files_v1 ON other(x)`, "is not as the phone library makes it (there is already an index named goliath_files_v1)"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			pool(t, file, strings.Split(c.setup, ";")...).Close()
			_, err := sqlitefs.Open(t.Context(), file, nil)
			isSentence(t, err, c.want)
		})
	}
	file := filepath.Join(t.TempDir(), "x.db")
	pool(t, file, `CREATE TABLE other(x)`, `CREATE TRIGGER goliath_files_v1 AFTER INSERT ON other BEGIN SELECT 1; END`).Close()
	if _, err := open(t, file, nil).Write(t.Context(), "/a", "beside a trigger of that name", ""); err != nil {
		t.Error(err)
	}
}

// TestRulesOfTheApp reads where triggers of the app, or a column it added, make
// writing impossible here.
func TestRulesOfTheApp(t *testing.T) {
	for name, c := range map[string]struct{ setup, want string }{
		"a function": {`CREATE TRIGGER app AFTER INSERT ON goliath_files_v1 BEGIN SELECT only_in_the_app(new.path); END`, "needs what only its app has (no such function: only_in_the_app)"},
		"a refusal":  {`CREATE TRIGGER app BEFORE INSERT ON goliath_files_v1 BEGIN SELECT RAISE(ABORT, 'no notes today'); END`, "a rule of the app for this table refused it (no notes today)"},
	} {
		t.Run(name, func(t *testing.T) {
			file := device(t)
			db := pool(t, file, c.setup)
			stores := map[string]*sqlitefs.FS{
				"the caller's": over(t, db, "default"),
				"writable":     open(t, file, nil),
				"read-only":    open(t, file, &sqlitefs.Options{ReadOnly: true}),
			}
			for how, s := range stores {
				if got := contents(t, s); len(got) == 0 {
					t.Errorf("%s: no files", how)
				}
				if problems, err := s.Check(t.Context(), nil); err != nil || len(problems) != 0 {
					t.Errorf("%s: %v, %v", how, problems, err)
				}
				if how != "read-only" {
					_, err := s.Write(t.Context(), "/new", "", "")
					isSentence(t, err, c.want)
				}
			}
			expectOverflow(t, watch(t, stores["writable"], "/"))
		})
	}
}

// TestCollationOfTheApp checks what can be checked.
func TestCollationOfTheApp(t *testing.T) {
	file := device(t)
	db, err := driver.Open("file:"+file, func(c *sqlite3.Conn) error {
		return c.CreateCollation("only_in_the_app", bytes.Compare)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run(t, db, `CREATE TABLE names(x COLLATE only_in_the_app)`)
	run(t, db, `CREATE INDEX names_x ON names(x)`)
	run(t, db, `INSERT INTO names VALUES('b'), ('a')`)
	run(t, db, `UPDATE goliath_files_v1 SET path_key = '00' WHERE path = (SELECT min(path) FROM goliath_files_v1)`)
	s := open(t, file, nil)
	problems, err := s.Check(t.Context(), nil)
	if err != nil || len(problems) < 2 || problems[0].Rule != sqlitefs.RuleChecked || problems[1].Rule != sqlitefs.RuleKey {
		t.Errorf("%+v, %v", problems, err)
	}
	err = s.Backup(t.Context(), file+".backup")
	isSentence(t, err, "needs what only its app has (no such collation sequence: only_in_the_app)")
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), filepath.Base(file)) || strings.Contains(e.Name(), "backup") {
			t.Errorf("the backup left %s", e.Name())
		}
	}
}

// TestNull looks at rows as only damage, or a table that another program made,
// can hold them.
func TestNull(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	db := pool(t, file, `CREATE TABLE goliath_files_v1(namespace, path, path_key, content, revision)`)
	insert(t, db, "/sound", hexKey("/sound"), "sound", "r1")
	insert(t, db, "/content", hexKey("/content"), nil, "r2")
	insert(t, db, "/key", nil, "x", "r3")
	insert(t, db, "/revision", hexKey("/revision"), "x", nil)
	insert(t, db, nil, hexKey("/path"), "x", "r5")
	s := open(t, file, nil)
	expectOverflow(t, watch(t, s, "/"))
	if got := paths(t, s, "/", 64); strings.Join(got, " ") != "/content /sound" {
		t.Errorf("listed: %v", got)
	}
	_, err := s.Read(t.Context(), "/content")
	isSentence(t, err, "the row holds a null where text belongs")
	if !errors.Is(err, vfs.ErrNotText) {
		t.Errorf("a NULL content: %v", err)
	}
	_, err = s.Stat(t.Context(), "/key")
	isSentence(t, err, "order key")
	_, err = s.Read(t.Context(), "/key")
	isSentence(t, err, "order key")
	for _, repair := range []bool{false, true} {
		if problems, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: repair, Quarantine: new(bytes.Buffer)}); err != nil || len(problems) < 4 {
			t.Errorf("repair %v: %+v, %v", repair, problems, err)
		}
	}
	if left, err := s.Check(t.Context(), nil); err != nil || len(left) != 0 {
		t.Errorf("after the repair: %+v, %v", left, err)
	}
	if f, err := s.Read(t.Context(), "/content"); err != nil || f.Content != "" {
		t.Errorf("after the repair: %+v, %v", f, err)
	}
}

// TestTriggersReachNothing: what a stranger's triggers say stays in the database, and
// they can be named.
func TestTriggersReachNothing(t *testing.T) {
	file := device(t)
	pool(t, file, `CREATE TABLE seen(path)`,
		`CREATE TRIGGER spy AFTER INSERT ON goliath_files_v1 BEGIN INSERT INTO seen VALUES(new.path); END`,
		`CREATE TRIGGER reach BEFORE DELETE ON goliath_files_v1 BEGIN SELECT load_extension('x'); END`,
		`CREATE TRIGGER other AFTER INSERT ON seen BEGIN SELECT 1; END`).Close()
	s := open(t, file, nil)
	names, err := s.Triggers(t.Context())
	if err != nil || strings.Join(names, " ") != "reach spy" {
		t.Errorf("triggers %q, %v", names, err)
	}
	info, err := s.Write(t.Context(), "/new", "", "")
	if err != nil {
		t.Fatal(err) // an app's own bookkeeping goes on
	}
	if err := s.Remove(t.Context(), "/new", info.Revision); err == nil {
		t.Error("a trigger could load an extension")
	}
	if names, err := open(t, device(t), nil).Triggers(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("triggers of a phone's database: %q, %v", names, err)
	}
}

// TestHugeValues: what a stranger's schema computes without end is refused, and does
// not take the program down.
func TestHugeValues(t *testing.T) {
	const huge = `printf('%.900000000c', 'x')`
	for name, setup := range map[string][]string{
		"a computed content": {
			`CREATE TABLE goliath_files_v1(namespace TEXT NOT NULL, path TEXT NOT NULL, path_key TEXT NOT NULL, revision TEXT NOT NULL, PRIMARY KEY(namespace, path))`,
			`INSERT INTO goliath_files_v1(namespace, path, path_key, revision) VALUES('default', '/a', '002f0061', 'AAAAAAAAAAAA')`,
			`ALTER TABLE goliath_files_v1 ADD COLUMN content TEXT AS (` + huge + `)`,
		},
		"a trigger": {
			`CREATE TABLE goliath_files_v1(namespace TEXT NOT NULL, path TEXT NOT NULL, path_key TEXT NOT NULL, content TEXT NOT NULL, revision TEXT NOT NULL, PRIMARY KEY(namespace, path))`,
			`CREATE TRIGGER huge AFTER INSERT ON goliath_files_v1 BEGIN UPDATE goliath_files_v1 SET content = ` + huge + `; END`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			pool(t, file, append(setup, `CREATE INDEX goliath_files_order_v1 ON goliath_files_v1(namespace, path_key)`)...).Close()
			s := open(t, file, nil)
			const told = "a value of more than 32 MiB"
			if name == "a trigger" {
				_, err := s.Write(t.Context(), "/a", "text", "")
				isSentence(t, err, told)
				if _, err := s.Read(t.Context(), "/a"); !errors.Is(err, vfs.ErrNotFound) {
					t.Errorf("after a refused write: %v", err)
				}
				return
			}
			_, err := s.Read(t.Context(), "/a")
			isSentence(t, err, told)
			_, err = s.List(t.Context(), "/", vfs.ListOptions{})
			isSentence(t, err, told)
			_, err = s.Check(t.Context(), nil)
			isSentence(t, err, told)
		})
	}
}

// TestTriggersThatChangeWrites: what triggers make of a text is never acknowledged as
// that text, and one that does not end ends all the same.
func TestTriggersThatChangeWrites(t *testing.T) {
	const here = ` ON goliath_files_v1 WHEN new.path = '/a' BEGIN `
	const endless = `SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c); END`
	for name, c := range map[string]struct {
		setup, want string
		longest     time.Duration
	}{
		"another text":       {setup: `AFTER INSERT` + here + `UPDATE goliath_files_v1 SET content = 'other' WHERE path = new.path; END`},
		"another revision":   {setup: `AFTER INSERT` + here + `UPDATE goliath_files_v1 SET revision = 'other' WHERE path = new.path; END`},
		"another path":       {setup: `AFTER INSERT` + here + `UPDATE goliath_files_v1 SET path = '/elsewhere' WHERE path = new.path; END`},
		"none":               {setup: `AFTER INSERT` + here + `DELETE FROM goliath_files_v1 WHERE path = new.path; END`},
		"none after a write": {setup: `AFTER UPDATE` + here + `DELETE FROM goliath_files_v1 WHERE path = new.path; END`},
		"what was removed":   {setup: `AFTER DELETE` + strings.ReplaceAll(here, "new.", "old.") + `INSERT INTO goliath_files_v1 VALUES(old.namespace, old.path, old.path_key, old.content, old.revision); END`},
		"endless":            {`AFTER INSERT` + here + endless, "triggers of the app ran for more than 100ms", 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			file := device(t)
			pool(t, file, `CREATE TRIGGER rule `+c.setup).Close()
			s := open(t, file, nil)
			if c.longest > 0 {
				s.SetLongest(c.longest)
			}
			info, err := s.Write(t.Context(), "/a", "text", "")
			want, left := c.want, ""
			if want == "" {
				want = "a trigger of the app changes or removes what is written"
			}
			if strings.HasPrefix(c.setup, "AFTER UPDATE") || strings.HasPrefix(c.setup, "AFTER DELETE") {
				left = "text"
				if err != nil {
					t.Fatal(err)
				}
				if c.setup[6] == 'U' {
					_, err = s.Write(t.Context(), "/a", "second", info.Revision)
				} else {
					err = s.Remove(t.Context(), "/a", info.Revision)
				}
			}
			isSentence(t, err, want)
			if f, err := s.Read(t.Context(), "/a"); f.Content != left || (err != nil) != (left == "") {
				t.Errorf("after a refused change: %+v, %v", f, err)
			}
			if _, err := s.Write(t.Context(), "/b", "others go on", ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLargeValuesOfTheApp: what an app keeps beside the files may be larger than any of
// them, and nothing that looks after the whole database fails for it.
func TestLargeValuesOfTheApp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, fast())
	if _, err := s.Write(t.Context(), "/a", "text", ""); err != nil {
		t.Fatal(err)
	}
	// Its rule has SQLite look at the value itself.
	pool(t, file,
		`CREATE TABLE "my ""photos"""(k TEXT PRIMARY KEY, v TEXT CHECK(upper(v) <> k))`,
		`INSERT INTO "my ""photos""" VALUES('k', printf('%.40000000c', 'x'))`,
		`CREATE TABLE small(k TEXT)`).Close()
	problems, err := s.Check(t.Context(), nil)
	if err != nil || len(problems) != 1 || problems[0].Rule != sqlitefs.RuleChecked {
		t.Fatalf("%+v, %v", problems, err)
	}
	isSentence(t, errors.New(problems[0].Detail), `(room for a value of more than 32 MiB): my "photos"`)
	if strings.Contains(problems[0].Detail, "small") {
		t.Errorf("it names a table that was checked: %s", problems[0].Detail)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	var size int
	if err := pool(t, copied).QueryRow(`SELECT length(v) FROM "my ""photos"""`).Scan(&size); err != nil || size != 40_000_000 {
		t.Errorf("the backup has %d bytes of it, %v", size, err)
	}
	if f, err := open(t, copied, nil).Read(t.Context(), "/a"); err != nil || f.Content != "text" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestFullMemory: what a stranger's rules compute may not fit into memory, one value or
// many; the program goes on, and so does the store.
func TestFullMemory(t *testing.T) {
	var columns, names []string
	for i := range 12 { // none is over the limit of a value
		columns = append(columns, fmt.Sprintf("c%d TEXT AS (iif(path = '/small', '', printf('%%.30000000c', 'x') || path))", i))
		names = append(names, fmt.Sprintf("c%d", i))
	}
	file := filepath.Join(t.TempDir(), "x.db")
	pool(t, file, `CREATE TABLE goliath_files_v1(namespace TEXT NOT NULL, path TEXT NOT NULL, path_key TEXT NOT NULL, content TEXT NOT NULL, revision TEXT NOT NULL, `+
		strings.Join(columns, ", ")+`, PRIMARY KEY(namespace, path), CHECK(max(`+strings.Join(names, ", ")+`) <> 'a'))`,
		`CREATE INDEX goliath_files_order_v1 ON goliath_files_v1(namespace, path_key)`).Close()
	s := open(t, file, nil)
	for range 3 {
		_, err := s.Write(t.Context(), "/large", "text", "")
		isSentence(t, err, "does not fit into memory")
	}
	info, err := s.Write(t.Context(), "/small", "text", "")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Read(t.Context(), "/small"); err != nil || f.Revision != info.Revision {
		t.Errorf("%+v, %v", f, err)
	}
	if got := paths(t, s, "/", 64); len(got) != 1 {
		t.Errorf("listed: %v", got)
	}
	if problems, err := s.Check(t.Context(), nil); err != nil || len(problems) > 0 {
		t.Errorf("%+v, %v", problems, err)
	}
}

// TestTriggersAddedLater: a trigger that is added while the store is open counts at once,
// on connections of either side.
func TestTriggersAddedLater(t *testing.T) {
	for name, store := range map[string]func(t *testing.T, file string) *sqlitefs.FS{
		"opened here": func(t *testing.T, file string) *sqlitefs.FS { return open(t, file, fast()) },
		"a caller's":  func(t *testing.T, file string) *sqlitefs.FS { return over(t, pool(t, file), "default") },
		"a caller's only one": func(t *testing.T, file string) *sqlitefs.FS {
			db := pool(t, file)
			db.SetMaxOpenConns(1)
			return over(t, db, "default")
		},
		"a caller's, watched": func(t *testing.T, file string) *sqlitefs.FS {
			s := over(t, pool(t, file), "default")
			expectOverflow(t, watch(t, s, "/"))
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			db := pool(t, file)
			s := store(t, file)
			kept, err := s.Write(t.Context(), "/kept", "text", "")
			if err != nil {
				t.Fatal(err)
			}
			other, err := s.Write(t.Context(), "/other", "text", "")
			if err != nil {
				t.Fatal(err)
			}
			run(t, db, `CREATE TRIGGER i AFTER INSERT ON goliath_files_v1 WHEN new.path = '/a' BEGIN UPDATE goliath_files_v1 SET content = 'other' WHERE path = new.path; END`)
			run(t, db, `CREATE TRIGGER u AFTER UPDATE ON goliath_files_v1 WHEN new.path = '/kept' BEGIN DELETE FROM goliath_files_v1 WHERE path = new.path; END`)
			run(t, db, `CREATE TRIGGER d AFTER DELETE ON goliath_files_v1 WHEN old.path = '/other' BEGIN INSERT INTO goliath_files_v1 VALUES(old.namespace, old.path, old.path_key, old.content, old.revision); END`)
			const told = "a trigger of the app changes or removes what is written"
			_, err = s.Write(t.Context(), "/a", "text", "")
			isSentence(t, err, told)
			_, err = s.Write(t.Context(), "/kept", "new", kept.Revision)
			isSentence(t, err, told)
			isSentence(t, s.Remove(t.Context(), "/other", other.Revision), told)
			if got := paths(t, s, "/", 64); strings.Join(got, " ") != "/kept /other" {
				t.Errorf("after refused changes: %v", got)
			}
			if f, err := s.Read(t.Context(), "/kept"); err != nil || f.Content != "text" || f.Revision != kept.Revision {
				t.Errorf("after a refused change: %+v, %v", f, err)
			}
			if _, err := s.Write(t.Context(), "/b", "others go on", ""); err != nil {
				t.Error(err)
			}
			if _, err := s.Write(t.Context(), "/b", "twice", ""); !errors.Is(err, vfs.ErrConflict) {
				t.Errorf("a conflict: %v", err)
			}
		})
	}
}
