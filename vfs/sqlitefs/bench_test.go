package sqlitefs_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// BenchmarkStore compares each operation with a bare loop over the same table,
// the same driver and prepared statements, and with plain files and fsync:
//
//	go test ./vfs/sqlitefs -run '^$' -bench Store
func BenchmarkStore(b *testing.B) {
	for _, relaxed := range []bool{false, true} {
		name := map[bool]string{false: "durable", true: "relaxed"}[relaxed]
		b.Run("write/"+name, func(b *testing.B) { benchWrite(b, relaxed) })
	}
	b.Run("read", benchRead)
	b.Run("stat", benchStat)
	b.Run("list", benchList)
}

var body = strings.Repeat("four kilobytes of plain text, 32\n", 124)

func benchOpen(b *testing.B, file string, relaxed bool) *sqlitefs.FS {
	b.Helper()
	s, err := sqlitefs.Open(b.Context(), file, &sqlitefs.Options{Relaxed: relaxed})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// bare opens the database as a program without this package would.
func bare(b *testing.B, file string, relaxed bool) *sql.DB {
	b.Helper()
	db, err := driver.Open("file:"+file, func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ` + map[bool]string{false: "FULL", true: "NORMAL"}[relaxed])
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

func prepared(b *testing.B, db *sql.DB, query string) *sql.Stmt {
	b.Helper()
	stmt, err := db.PrepareContext(b.Context(), query)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stmt.Close() })
	return stmt
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

func benchWrite(b *testing.B, relaxed bool) {
	path := func(i int) string { return fmt.Sprintf("/bench/%d/file-%d.md", i%97, i) }
	b.Run("goliathfs", func(b *testing.B) {
		s := benchOpen(b, filepath.Join(b.TempDir(), "x.db"), relaxed)
		for i := 0; b.Loop(); i++ {
			_, err := s.Write(b.Context(), path(i), body, "")
			must(b, err)
		}
	})
	b.Run("sql", func(b *testing.B) {
		file := filepath.Join(b.TempDir(), "x.db")
		must(b, benchOpen(b, file, relaxed).Close())
		insert := prepared(b, bare(b, file, relaxed), `INSERT INTO goliath_files_v1 VALUES(?, ?, ?, ?, ?)`)
		for i := 0; b.Loop(); i++ {
			_, err := insert.ExecContext(b.Context(), "default", path(i), hexKey(path(i)), body, "AZrH8zkq3xYf")
			must(b, err)
		}
	})
	b.Run("files", func(b *testing.B) {
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
			must(b, err)
			_, err = f.WriteString(body)
			must(b, err)
			if !relaxed {
				must(b, f.Sync())
			}
			must(b, f.Close())
		}
	})
}

// hexKey is the order key of an ASCII path.
func hexKey(path string) string {
	var key strings.Builder
	for _, c := range []byte(path) {
		fmt.Fprintf(&key, "%04x", c)
	}
	return key.String()
}

const benchFiles = 1000

// filled returns a database of benchFiles files and their paths.
func filled(b *testing.B) (file string, paths []string) {
	b.Helper()
	file = filepath.Join(b.TempDir(), "x.db")
	s := benchOpen(b, file, true)
	for i := range benchFiles {
		path := fmt.Sprintf("/d%d/file-%03d.md", i/50, i)
		_, err := s.Write(b.Context(), path, body, "")
		must(b, err)
		paths = append(paths, path)
	}
	must(b, s.Close())
	return file, paths
}

func benchRead(b *testing.B) {
	file, paths := filled(b)
	b.Run("goliathfs", func(b *testing.B) {
		s := benchOpen(b, file, false)
		for i := 0; b.Loop(); i++ {
			_, err := s.Read(b.Context(), paths[i%benchFiles])
			must(b, err)
		}
	})
	b.Run("sql", func(b *testing.B) {
		read := prepared(b, bare(b, file, false), `SELECT revision, content FROM goliath_files_v1 WHERE namespace = ? AND path = ?`)
		for i := 0; b.Loop(); i++ {
			var rev, content string
			must(b, read.QueryRowContext(b.Context(), "default", paths[i%benchFiles]).Scan(&rev, &content))
		}
	})
}

func benchStat(b *testing.B) {
	file, paths := filled(b)
	b.Run("goliathfs", func(b *testing.B) {
		s := benchOpen(b, file, false)
		for i := 0; b.Loop(); i++ {
			_, err := s.Stat(b.Context(), paths[i%benchFiles])
			must(b, err)
		}
	})
	b.Run("sql", func(b *testing.B) {
		stat := prepared(b, bare(b, file, false), `SELECT revision, octet_length(content) FROM goliath_files_v1 WHERE namespace = ? AND path = ?`)
		for i := 0; b.Loop(); i++ {
			var rev string
			var size int64
			must(b, stat.QueryRowContext(b.Context(), "default", paths[i%benchFiles]).Scan(&rev, &size))
		}
	})
}

func benchList(b *testing.B) {
	file, _ := filled(b)
	b.Run("goliathfs", func(b *testing.B) {
		s := benchOpen(b, file, false)
		for b.Loop() {
			_, err := s.List(b.Context(), "/", vfs.ListOptions{After: "/d5"})
			must(b, err)
		}
	})
	b.Run("sql", func(b *testing.B) {
		list := prepared(b, bare(b, file, false), `SELECT path, revision, octet_length(content) FROM goliath_files_v1
			WHERE namespace = ? AND path_key > ? ORDER BY path_key LIMIT 65`)
		for b.Loop() {
			rows, err := list.QueryContext(b.Context(), "default", hexKey("/d5"))
			must(b, err)
			for rows.Next() {
				var path, rev string
				var size int64
				must(b, rows.Scan(&path, &rev, &size))
			}
			must(b, rows.Err())
			rows.Close()
		}
	})
}

// BenchmarkPage compares a page at the end of a large namespace with one of a
// thousand files. The large one has GOLIATHFS_BENCH_ROWS files, or 100,000.
func BenchmarkPage(b *testing.B) {
	rows := 100_000
	if n := os.Getenv("GOLIATHFS_BENCH_ROWS"); n != "" {
		_, err := fmt.Sscan(n, &rows)
		must(b, err)
	}
	for _, n := range []int{1000, rows} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "x.db")
			s := benchOpen(b, file, true)
			db := bare(b, file, true)
			// the key of a digit ends in that digit
			_, err := db.ExecContext(b.Context(), `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM i WHERE n+1 < ?),
				p(n, d) AS (SELECT n, printf('%07d', n) FROM i)
				INSERT INTO goliath_files_v1 SELECT 'default', '/' || d,
				'002f003' || substr(d,1,1) || '003' || substr(d,2,1) || '003' || substr(d,3,1) || '003' || substr(d,4,1) ||
				'003' || substr(d,5,1) || '003' || substr(d,6,1) || '003' || substr(d,7,1), 'x', 'rev-' || d FROM p`, n)
			must(b, err)
			after := fmt.Sprintf("/%07d", n-100)
			for b.Loop() {
				page, err := s.List(b.Context(), "/", vfs.ListOptions{After: after})
				must(b, err)
				if len(page.Files) != 64 {
					b.Fatal(len(page.Files))
				}
			}
		})
	}
}
