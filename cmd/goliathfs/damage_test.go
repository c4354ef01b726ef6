package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/rogpeppe/go-internal/testscript"
)

// sql changes a database as another program would:
//
//	sql s.db 'DELETE FROM …'
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql file statement")
	}
	db, err := driver.Open("file:" + ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// flip changes each occurrence of a text in the files of a directory, or in one
// file, as a failing disk would:
//
//	flip 'some text' b/badger
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip text file-or-directory")
	}
	flipped := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte(args[0])) {
			return err
		}
		flipped++
		return os.WriteFile(name, bytes.ReplaceAll(data, []byte(args[0]), bytes.ToUpper([]byte(args[0]))), 0o600)
	}))
	if flipped == 0 {
		ts.Fatalf("no file holds %q", args[0])
	}
}
